// The lab's report in a real browser: `node check.js CHROMIUM FOLDER [--shots FOLDER]`. FOLDER holds what
// `cargo xtask report` made: reports of made-up runs, and one of a real run. Exits with 1, and says why, when a plot is
// missing or blank, the console complains, something is loaded, a page is wider than its window, a table does not sort,
// or text of the document has become part of the page.

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { Browser } from "./browser.js";

const OVERVIEW = ["throughput", "latency", "cpu", "waits", "spins", "log-throughput", "log-flushes", "log-writes"];
const COURSE = ["course", "course-waits", "course-log", "course-cpu", "course-switches", "course-spins", "heat", "histogram"];

/** The plots that each page must have: these and no others, or (`least`) at least these. */
const PAGES = [
  { file: "sweep/report.html", dark: true, plots: ["pairs", "arm-ratios", "own-recovery_s", ...OVERVIEW, ...COURSE, "flame", "inverted", "off-cpu"], tables: ["summary", "pairs", "published", "waits", "spinlocks", "latches", "log-writes", "figures", "profile-spinlocks", "functions", "machine", "settings"], cells: 24 },
  { file: "rivals/report.html", plots: ["arm-ratios", "own-recovery_s", ...OVERVIEW, ...COURSE], tables: ["summary", "waits", "machine"], cells: 8 },
  { file: "places/report.html", plots: ["arm-ratios", "own-recovery_s", ...OVERVIEW, ...COURSE], tables: ["summary", "arm-ratios", "waits", "machine"], cells: 3 },
  { file: "ladder/report.html", plots: ["throughput", "latency", "arm-ratios", "log-throughput", "log-flushes"], tables: ["summary", "machine", "arm-ratios"], cells: 72, axes: 2 },
  { file: "empty/report.html", plots: [], tables: ["machine"], cells: 0 },
  { file: "compare/compare.html", dark: true, plots: ["ratios", ...OVERVIEW], tables: ["ratios"] },
  { file: "itself/compare.html", least: true, plots: ["ratios", "throughput"], tables: ["ratios"] },
  { file: "real/report.html", least: true, plots: ["throughput", "cpu", "log-throughput", "log-flushes", "course"], tables: ["summary", "waits", "machine"], cells: 2 },
];

/** Dark ones of some pages only: what differs is the colours. */
const VIEWS = [[1280, 900, "light"], [400, 800, "light"], [1280, 900, "dark"], [400, 800, "dark"]];

const [program, folder, , shots] = process.argv.slice(2);
const problems = [];

async function main() {
  if (shots) mkdirSync(shots, { recursive: true });
  const browser = await Browser.start(program);
  try {
    const page = await browser.page();
    for (const one of PAGES) {
      const views = VIEWS.filter(([, , scheme]) => scheme === "light" || one.dark || shots);
      for (const [width, height, scheme] of views) await look(page, one, width, height, scheme);
    }
    await control(page);
  } finally {
    await browser.stop();
  }
  tell();
  if (problems.length) process.exit(1);
  console.log(`report: ${PAGES.length} pages: plots drawn, tables sort, nothing loaded, no complaint`);
}

async function look(page, one, width, height, scheme) {
  const where = `${one.file} at ${width} ${scheme}`;
  const wrong = (what) => problems.push(`${where}: ${what}`);
  await page.open(pathToFileURL(resolve(folder, one.file)).href, width, height, scheme);
  const plots = await page.evaluate(plotsOf);
  checkPlots(one, plots, wrong);
  if (width === 1280 && scheme === "light") {
    for (const problem of await page.evaluate(sortAll, one.tables)) wrong(problem);
    if (one.axes) for (const problem of await chooseAxes(page, one)) wrong(problem);
    if (one.cells) for (const problem of await chooseCells(page, one.cells)) wrong(problem);
  }
  const extent = await page.evaluate(() => ({ page: document.documentElement.scrollWidth, window: innerWidth }));
  if (extent.page > extent.window) wrong(`the page is ${extent.page} wide, its window ${extent.window}`);
  if (await page.evaluate(() => "broken" in window || document.querySelector("img") !== null)) wrong("text of the document became part of the page");
  for (const complaint of page.complaints) wrong(complaint);
  for (const request of page.requests) wrong(`asks for ${request}`);
  if (shots) (await page.screenshots(1400)).forEach((picture, i) => writeFileSync(join(shots, `${one.file.split("/")[0]}-${width}-${scheme}-${i + 1}.png`), picture));
}

function checkPlots(one, plots, wrong) {
  const names = plots.map((plot) => plot.name);
  for (const name of one.plots) if (!names.includes(name)) wrong(`the plot ${name} is missing`);
  if (!one.least) for (const name of names) if (!one.plots.includes(name)) wrong(`the plot ${name} was not expected`);
  if (new Set(names).size !== names.length) wrong("a plot stands twice");
  for (const plot of plots) {
    if (!plot.drawn) wrong(`the plot ${plot.name} is not drawn`);
    else if (plot.colours < 4) wrong(`the plot ${plot.name} is blank (${plot.colours} colours)`);
  }
}

/** In the page: every plot, and how many colours its canvas has. */
function plotsOf() {
  return [...document.querySelectorAll("[data-chart]")].map((place) => {
    const canvas = place.querySelector("canvas");
    const colours = new Set();
    if (canvas && canvas.width && canvas.height) {
      // Read from a copy: reading would change how the browser keeps the plot's own canvas.
      const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext("2d", { willReadFrequently: true });
      copy.drawImage(canvas, 0, 0);
      const pixels = new Uint32Array(copy.getImageData(0, 0, canvas.width, canvas.height).data.buffer);
      for (let i = 0; i < pixels.length && colours.size < 64; i++) colours.add(pixels[i]);
    }
    return { name: place.dataset.chart, drawn: place.dataset.drawn === "yes" && canvas !== null, colours: colours.size };
  });
}

/** In the page: clicks every heading of every table twice. */
function sortAll(expected) {
  const wrong = [];
  const tables = [...document.querySelectorAll("table[data-table]")];
  for (const name of expected) if (!tables.some((table) => table.dataset.table === name)) wrong.push(`the table ${name} is missing`);
  const column = (table, index) => [...table.tBodies[0].rows].map((row) => row.cells[index].textContent);
  for (const table of tables) {
    const before = column(table, 0).sort().join("\n");
    [...table.tHead.rows[0].cells].forEach((head, index) => {
      const name = `${table.dataset.table}, ${head.textContent}`;
      const orders = [1, 2].map(() => {
        head.querySelector("button").click();
        return { sort: head.getAttribute("aria-sort"), values: column(table, index) };
      });
      if (orders.map((order) => order.sort).sort().join() !== "ascending,descending") wrong.push(`${name}: sorted ${orders.map((order) => order.sort)}`);
      for (const order of orders) {
        // Plain numbers and plain words; a dash (no figure) stands at the end either way.
        const known = order.values.filter((value) => value !== "–");
        if (order.values.slice(0, known.length).join() !== known.join()) wrong.push(`${name}: a missing figure is not at the end`);
        if (!known.every((value) => /^-?[\d,]+(\.\d+)?$/.test(value))) continue;
        const numbers = known.map((value) => Number(value.replaceAll(",", "")));
        const sign = order.sort === "ascending" ? 1 : -1;
        if (numbers.some((value, i) => i > 0 && sign * (value - numbers[i - 1]) < 0)) wrong.push(`${name}: not ${order.sort}: ${numbers}`);
      }
    });
    if (column(table, 0).sort().join("\n") !== before) wrong.push(`${table.dataset.table}: sorting lost rows`);
  }
  return wrong;
}

/** Chooses each axis in turn: the same plots are drawn along it. */
async function chooseAxes(page, one) {
  const wrong = [];
  const count = await page.evaluate(() => document.querySelectorAll("#throughput select option").length);
  if (count !== one.axes) wrong.push(`${count} axes to choose from, and not ${one.axes}`);
  for (let index = count - 1; index >= 0; index--) {
    await choose(page, "#throughput", index);
    checkPlots(one, await page.evaluate(plotsOf), (what) => wrong.push(`axis ${index + 1}: ${what}`));
  }
  return wrong;
}

async function choose(page, section, index) {
  await page.evaluate((place, chosen) => {
    const list = document.querySelector(place + " select");
    list.value = String(chosen);
    list.dispatchEvent(new Event("change"));
  }, section, index);
  await page.frames();
}

/** Chooses the first and the last cell in turn: their plots are drawn. */
async function chooseCells(page, cells) {
  const wrong = [];
  const count = await page.evaluate(() => document.querySelectorAll("#cells select option").length);
  if (count !== cells) wrong.push(`${count} cells to choose from, and not ${cells}`);
  for (const index of [0, cells - 1]) {
    await choose(page, "#cells", index);
    const plots = await page.evaluate(plotsOf);
    for (const plot of plots) if (!plot.drawn || plot.colours < 4) wrong.push(`cell ${index + 1}: the plot ${plot.name} is blank`);
  }
  return wrong;
}

/** The checks see what they look for: a page spoilt on purpose is found out. */
async function control(page) {
  const spoilt = join(resolve(folder), "spoilt.html");
  writeFileSync(spoilt, readFileSync(join(folder, "empty/report.html"), "utf8")
    .replace("</body>", "<script>window.broken = 1</script><div data-chart='gone' style='width:3000px'><canvas width='9' height='9'></canvas></div></body>"));
  await page.open(pathToFileURL(spoilt).href, 400, 800, "light");
  const found = [];
  checkPlots({ plots: ["missing"] }, await page.evaluate(plotsOf), (what) => found.push(what));
  const missed = (what, seen) => { if (!seen) problems.push(`control: ${what} was not noticed`); };
  missed("a missing plot", found.includes("the plot missing is missing"));
  missed("a plot that is not drawn", found.includes("the plot gone is not drawn"));
  missed("a script that does not belong there", page.complaints.some((complaint) => complaint.includes("Content Security Policy")));
  missed("a page that is too wide", await page.evaluate(() => document.documentElement.scrollWidth > innerWidth));
  if (await page.evaluate(() => "broken" in window)) problems.push("control: the policy let a strange script run");
}

function tell() {
  for (const problem of problems.slice(0, 30)) console.error("report: " + problem);
  if (problems.length > 30) console.error(`report: and ${problems.length - 30} more`);
}

main().catch((error) => {
  tell();
  console.error("report: " + error.message);
  process.exit(1);
});
