// Sortable tables. A column: {head, value, text?, kind?, title?, node?}.
//   value(row)  what is sorted by: a number, a string, or null (always last)
//   text(row)   what is shown; numbers are grouped when it is missing
//   kind        "number" (default), "text" or "long" (wraps)
//   node(row)   an element instead of text

function table(columns, rows, options = {}) {
  const body = el("tbody");
  const heads = columns.map((column, index) => {
    const button = el("button", { type: "button", title: column.title || "Sort by " + column.head, style: column.head.length > 16 ? "min-width:7.5em" : null, onclick: () => sortBy(index) }, column.head);
    return el(column.kind === "text" || column.kind === "long" ? "th.text" : "th", { scope: "col" }, button);
  });
  let order = options.sort ? { index: options.sort[0], down: options.sort[1] === "down" } : null;

  function sortBy(index) {
    const first = columns[index].kind === "text" || columns[index].kind === "long" ? false : true;
    order = { index, down: order && order.index === index ? !order.down : first };
    fill();
  }

  function fill() {
    const sorted = rows.map((row, place) => ({ row, place }));
    if (order) {
      const value = columns[order.index].value;
      const sign = order.down ? -1 : 1;
      sorted.sort((a, b) => compareValues(value(a.row), value(b.row), sign) || a.place - b.place);
    }
    heads.forEach((head, index) => {
      if (order && order.index === index) head.setAttribute("aria-sort", order.down ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
    });
    body.replaceChildren(...sorted.map(({ row }) => el("tr", null, columns.map((column) => tableCell(column, row)))));
  }

  fill();
  return el("div.scroll", null,
    el("table", { "data-table": options.name }, options.caption ? el("caption", null, options.caption) : null,
      el("thead", null, el("tr", null, heads)), body));
}

function tableCell(column, row) {
  const kind = column.kind === "text" ? "td.text" : column.kind === "long" ? "td.text.long" : "td";
  if (column.node) return el(kind, null, column.node(row));
  if (column.text) return el(kind, null, column.text(row));
  const value = column.value(row);
  return el(kind, null, typeof value === "number" ? grouped(value) : value === null || value === undefined ? DASH : value);
}

function compareValues(a, b, sign) {
  const none = (value) => value === null || value === undefined || Number.isNaN(value);
  if (none(a) || none(b)) return none(a) - none(b);
  if (typeof a === "number" && typeof b === "number") return sign * (a - b);
  return sign * String(a).localeCompare(String(b), "en", { numeric: true });
}

/** Names and values, in two columns: machine, settings. */
function facts(pairs, name) {
  const known = pairs.filter(([, value]) => value !== null && value !== undefined && value !== "");
  return table([
    { head: "what", kind: "text", value: (pair) => pair[0] },
    { head: "value", kind: "long", value: (pair) => String(pair[1]) },
  ], known, { name });
}
