// The document as the page needs it: arms and points (worked out by `lab-report`, see `view` in the data), cells by
// index, waits by category.

/** The taxonomy all targets share, in the order of stacking; `idle` is never drawn. */
const CATEGORIES = [
  ["log write", "log-write"], ["log space", "log-space"], ["lock", "lock"], ["latch", "latch"],
  ["data I/O", "data-io"], ["client", "client"], ["CPU and other", "cpu"],
];

function categoryOf(cell, wait) {
  return (cell.wait_categories || {})[wait] || "CPU and other";
}

function categoryColour(t, category) {
  const found = CATEGORIES.find(([name]) => name === category) || CATEGORIES[CATEGORIES.length - 1];
  return t.colour("wait-" + found[1]);
}

/** Every wait type of these cells that is not idle: [name, category], by category, then by time. */
function waitTypes(cells) {
  const totals = new Map();
  for (const cell of cells) {
    for (const [name, wait] of Object.entries(cell.waits || {})) {
      const category = categoryOf(cell, name);
      if (category === "idle" || !(wait.wait_time_ms > 0)) continue;
      const known = totals.get(name) || { name, category, ms: 0 };
      known.ms += wait.wait_time_ms;
      totals.set(name, known);
    }
  }
  const rank = (category) => CATEGORIES.findIndex(([name]) => name === category);
  return [...totals.values()].sort((a, b) => rank(a.category) - rank(b.category) || b.ms - a.ms);
}

/** Colours for wait types: the category's own for the largest of it, lighter ones for the rest. */
function waitColours(t, types) {
  const seen = {};
  const colours = {};
  for (const { name, category } of types) {
    const place = (seen[category] = (seen[category] ?? -1) + 1);
    colours[name] = mixed(categoryColour(t, category), t.paper, Math.min(0.22 * place, 0.66));
  }
  return colours;
}

/** A colour with a share of another; both as #rrggbb. */
function mixed(colour, other, share) {
  const parts = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
  const b = parts(other);
  return "#" + parts(colour).map((value, i) => Math.round(value * (1 - share) + b[i] * share).toString(16).padStart(2, "0")).join("");
}

/** What the experiment counts. */
function thing(run) {
  return { "log-device": "writes", "point-read": "reads" }[run.experiment] || "rows";
}

/** The arms to be drawn as lines: of many, those that have more than one point. */
function linesOf(view) {
  const lines = view.arms.filter((arm) => arm.points.length > 1);
  return lines.length && view.arms.length > 8 ? lines : view.arms;
}

/** A cell in a few words: where it stands among the others. */
function cellTitle(view, cell, index) {
  const place = view.places[index];
  const parts = view.x_key === "sessions" ? [plural(cell.sessions, "session"), place.arm] : [place.arm, view.x_label + " " + grouped(place.x)];
  if (cell.round) parts.push("pair " + (cell.round.pair + 1) + (cell.round.b ? " b" : " a"));
  return parts.filter(Boolean).join(", ");
}

const MARK_NAMES = {
  "cut-short": "cut short", drifted: "drifted", "not-steady": "not steady", steal: "CPU stolen",
  audit: "audit", client: "client short of CPU", unmeasured: "not measured", wrong: "wrong",
};
const BAD_MARKS = ["cut-short", "audit", "wrong"];

function markTags(marks) {
  return (marks || []).map((mark) => el("span.tag" + (BAD_MARKS.includes(mark.kind) ? ".bad" : ""), { title: mark.text }, MARK_NAMES[mark.kind] || mark.kind));
}

function markBox(mark, where) {
  return el("div.mark" + (BAD_MARKS.includes(mark.kind) ? ".bad" : ""), null, el("b", null, (where ? where + ": " : "") + (MARK_NAMES[mark.kind] || mark.kind)), ". ", mark.text);
}

/** Of a point: the mean of a figure over its cells; null when none has it. */
function pointMean(run, point, figureOf) {
  const values = point.cells.map((index) => figureOf(run.cells[index])).filter((value) => Number.isFinite(value));
  return values.length ? values.reduce((a, b) => a + b, 0) / values.length : null;
}
