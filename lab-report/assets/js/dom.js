// Elements. Text goes in as text nodes only: nothing that comes from a document is ever parsed as HTML.

/** el("p.small", {title: "x"}, "text", child, ...) */
function el(what, attributes, ...children) {
  const [tag, ...classes] = what.split(".");
  const node = document.createElement(tag);
  if (classes.length) node.className = classes.join(" ");
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined && value !== false) node.setAttribute(name, value === true ? "" : value);
  }
  append(node, children);
  return node;
}

function append(node, children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    node.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
}

/** A section with a place in the navigation. Sections without content are left out. */
function section(page, id, title, ...children) {
  const content = children.flat(Infinity).filter((child) => child);
  if (!content.length) return null;
  const node = el("section", { id }, el("h2", null, title), content);
  page.main.append(node);
  page.nav.append(el("a", { href: "#" + id }, title));
  return node;
}

/** The page's frame: header, navigation, main, footer. */
function frame() {
  const nav = el("div");
  const page = { header: el("header.top"), nav, main: el("main"), footer: el("footer") };
  document.getElementById("report").append(page.header, el("nav.top", { "aria-label": "Sections" }, nav), page.main, page.footer);
  return page;
}

/** A command, and a button that copies it. */
function commandBox(command) {
  return el("pre.command", { title: "The exact command" }, el("code", null, command));
}

/** A button that saves text as a file; works from a file: address, too. */
function saveButton(label, name, type, text) {
  return el("button.button", {
    type: "button",
    onclick: () => {
      const link = el("a", { href: URL.createObjectURL(new Blob([text()], { type })), download: name });
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 10000);
    },
  }, label);
}

/** A labelled list of choices; `choose` hears the index. */
function chooser(label, options, chosen, choose) {
  const list = el("select", { onchange: () => choose(Number(list.value)) },
    options.map((text, index) => el("option", { value: index, selected: index === chosen }, text)));
  return el("div.row", null, el("label", null, label, " ", list));
}
