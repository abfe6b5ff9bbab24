// The page of one run, from top to bottom.

function runPage(data) {
  const { run, views } = data;
  const view = views[0];
  const page = frame();
  runHeader(page, run, view);
  section(page, "summary", "Figures", summaryTable(run, view), (run.comparisons || []).length ? pairsTable(run.comparisons) : null);
  overview(page, run, views);
  section(page, "published", "Published figures", publishedPart(view.published));
  cellSection(page, run, view);
  section(page, "machine", "Machine and settings", machinePart(run.machine || {}), (run.targets || []).map(targetPart),
    (run.conclusions || []).length ? [el("h3", null, "What the cells say"), el("ul", null, run.conclusions.map((text) => el("li", null, text)))] : null,
    (run.cannot_show || []).length ? [el("h3", null, "What this machine cannot show"), el("ul", null, run.cannot_show.map((text) => el("li", null, text)))] : null);
  section(page, "raw", "Raw data", rawPart(data.run, "run.json"));
  page.footer.append(`millrace lab, version ${run.version}. Plots by Apache ECharts 6.1.0, which is in this file. Nothing is loaded from anywhere.`);
  draw();
}

/** The plots over all cells; where several settings are numbers that vary, along the one that is chosen. */
function overview(page, run, views) {
  const parts = [
    ["throughput", "Throughput", (view) => throughputFigures(run, view)],
    ["waits", "Waits and spins", (view) => [waitsFigure(run, view), spinsFigure(run, view)]],
    ["own", "This experiment", (view) => ownPlots(run, view)],
    ["log", "Log", (view) => logFigures(run, view).concat(logWriteFigure(run, view))],
  ];
  // Last, so that it stands behind the plots it goes by; it has a choice of its own.
  let ratios = null;
  const places = parts.map(([id, title, figures]) => {
    const place = el("div.plots");
    const found = figures(views[0]).filter(Boolean);
    place.append(...found);
    const along = id === "throughput" && views.length > 1 ? chooser("Along", views.map((view) => view.x_label), 0, choose) : null;
    const left = el("p.small");
    if (found.length || along) section(page, id, title, along, id === "throughput" ? left : null, place);
    if (id === "throughput" && views.some((view) => view.ratios.length)) {
      ratios = el("div");
      section(page, "ratios", "Ratios", ratios);
    }
    return { place, figures, left };
  });
  const tell = (view) => {
    const out = view.arms.length - linesOf(view).length;
    places[0].left.textContent = out ? `Plotted: the combinations measured at several ${view.x_label}. ${plural(out, "other combination")} stand${out === 1 ? "s" : ""} in the table above.` : "";
  };
  function choose(index) {
    for (const { place, figures } of places) place.replaceChildren(...figures(views[index]).filter(Boolean));
    tell(views[index]);
    if (ratios) ratios.replaceChildren(...armRatios(run, views[index]));
    draw();
  }
  tell(views[0]);
  if (ratios) ratios.replaceChildren(...armRatios(run, views[0]));
}

/** Every arm over a chosen one, at each place where both were measured. */
function armRatios(run, view) {
  if (!view.ratios.length) return [el("p.small", null, "No two arms were measured at the same place, or there are too many to compare.")];
  const bases = view.arms.map((_, index) => index).filter((index) => view.ratios.some((one) => one.base === index));
  // Of several targets the second: the first is the one whose worth is asked.
  const target = (index) => run.cells[view.arms[index].points[0].cells[0]].target;
  const rival = bases.find((index) => target(index) !== target(bases[0]));
  const place = el("div");
  const fill = (chosen) => {
    const base = bases[chosen];
    const rows = view.ratios.filter((one) => one.base === base);
    const over = " over " + view.arms[base].label;
    const arms = view.arms.map((arm, index) => ({
      label: arm.label,
      points: rows.filter((one) => one.arm === index && one.figure === "rows_per_s").map((one) => ({ x: one.x, cells: [], figures: { ratio: { mean: one.ratio, low: one.low, high: one.high } } })),
    }));
    place.replaceChildren(...[
      linesFigure(run, { ...view, arms }, "arm-ratios", "Throughput," + over, "Bars: 95% intervals.", { key: "ratio", unit: "times", text: (v) => trimmed(v), axis: trimmed }),
      table([
        { head: view.x_label, value: (row) => row.x },
        { head: "arm", kind: "text", value: (row) => view.arms[row.arm].label },
        { head: "figure", kind: "text", value: (row) => row.figure },
        { head: "ratio", value: (row) => row.ratio, text: (row) => trimmed(row.ratio) },
        { head: "95% interval", value: (row) => row.low, text: (row) => row.low === null ? DASH : trimmed(row.low) + " to " + trimmed(row.high) },
        { head: "least effect", title: "The least effect that figures of this noise show in 8 of 10 runs", value: (row) => row.least_detectable, text: (row) => row.least_detectable === null ? DASH : percent(row.least_detectable - 1) },
        { head: "from", kind: "text", value: (row) => row.basis },
        { head: "verdict", kind: "text", value: (row) => row.verdict },
      ], rows, { name: "arm-ratios" }),
    ].filter(Boolean));
    draw();
  };
  const start = Math.max(0, bases.indexOf(rival));
  const nodes = [el("p.small", null, "Cells of one run, measured one after the other: what changed meanwhile is in the ratio, too. For a firm answer measure in turns, with --pairs."), chooser("Over", bases.map((index) => view.arms[index].label), start, fill), place];
  fill(start);
  return nodes;
}

function runHeader(page, run, view) {
  const began = run.began_unix_s ? new Date(run.began_unix_s * 1000).toISOString().replace("T", " ").slice(0, 16) + " UTC" : "";
  const machine = run.machine || {};
  document.title = run.experiment + ", " + began;
  append(page.header, [
    el("h1", null, run.experiment),
    el("p.soft", null, [began, (run.targets || []).map((target) => [target.name, target.version].filter(Boolean).join(" ")).join(", "), machine.cpu_model, machine.cpus ? plural(machine.cpus, "CPU") : "", plural(run.cells.length, "cell"), run.seconds ? grouped(Math.round(run.seconds)) + " s" : ""].filter(Boolean).join(" · ")),
    run.what ? el("p", null, run.what) : null,
    run.command ? commandBox(run.command) : null,
    run.cut_short && !(run.marks || []).some((mark) => mark.kind === "cut-short") ? markBox({ kind: "cut-short", text: "The run ended before its last cell." }) : null,
    (run.marks || []).map((mark) => markBox(mark)),
    markedCells(run, view),
    leadFigures(run, view),
  ]);
}

/** One line for the marks of cells; the table shows which. */
function markedCells(run) {
  const counts = new Map();
  for (const cell of run.cells) for (const kind of new Set((cell.marks || []).map((mark) => mark.kind))) counts.set(kind, (counts.get(kind) || 0) + 1);
  if (!counts.size) return null;
  return el("p.small", null, "Marked: ", [...counts].map(([kind, count]) => [markTags([{ kind, text: "" }]), plural(count, "cell"), " "]));
}

function leadFigures(run, view) {
  const best = run.cells.map((cell, index) => ({ cell, index })).sort((a, b) => b.cell.rows_per_s - a.cell.rows_per_s)[0];
  if (!best || !(best.cell.rows_per_s > 0)) return null;
  const quick = run.cells.map((cell, index) => ({ cell, index })).filter(({ cell }) => Number.isFinite(cell.p50_us ?? NaN)).sort((a, b) => a.cell.p50_us - b.cell.p50_us)[0];
  const one = (value, what) => el("div", null, el("b", null, value), el("span", null, what));
  return el("div.lead", null,
    one(grouped(Math.round(best.cell.rows_per_s)), thing(run) + "/s at best: " + cellTitle(view, best.cell, best.index)),
    quick ? one(duration(quick.cell.p50_us), "least median latency: " + cellTitle(view, quick.cell, quick.index)) : null,
    best.cell.cpu_ns_per_row ? one(grouped(Math.round(best.cell.cpu_ns_per_row)) + " ns", `of CPU per ${thing(run).slice(0, -1)} at best throughput`) : null);
}

function summaryTable(run, view) {
  const rows = run.cells.map((cell, index) => ({ cell, index, place: view.places[index] }));
  const several = view.arms.length > 1;
  const some = (of) => run.cells.some((cell) => of(cell) > 0);
  const optional = (head, of, more = {}) => some(of) ? [{ head, value: (row) => of(row.cell), ...more }] : [];
  const microseconds = (of) => ({ text: (row) => duration(of(row.cell)) });
  return table([
    { head: "cell", value: (row) => row.index + 1 },
    { head: "sessions", value: (row) => row.cell.sessions },
    ...(view.x_key !== "sessions" && view.x_values.length > 1 ? [{ head: view.x_label, value: (row) => row.place.x }] : []),
    ...(several ? [{ head: "arm", kind: "text", value: (row) => row.place.arm }] : []),
    ...(run.cells.some((cell) => (cell.marks || []).length) ? [{ head: "marks", kind: "text", value: (row) => (row.cell.marks || []).length || null, text: null, node: (row) => el("span", null, markTags(row.cell.marks)) }] : []),
    ...optional(thing(run) + "/s", (cell) => cell.rows_per_s, { text: (row) => grouped(Math.round(row.cell.rows_per_s)) }),
    ...(run.cells.some((_, index) => view.places[index].low !== null) ? [{ head: "95% interval", value: (row) => row.place.low, text: (row) => row.place.low === null ? DASH : short(row.place.low) + " to " + short(row.place.high) }] : []),
    ...optional("commits/s", (cell) => (Math.abs(cell.commits_per_s - cell.rows_per_s) > cell.rows_per_s / 1000 || run.cells.some((one) => one.commit_every > 1) ? cell.commits_per_s : 0), { text: (row) => grouped(Math.round(row.cell.commits_per_s)) }),
    ...optional("median", (cell) => cell.p50_us, microseconds((cell) => cell.p50_us)),
    ...optional("99%", (cell) => cell.p99_us, microseconds((cell) => cell.p99_us)),
    ...optional("CPU, ns per " + thing(run).slice(0, -1), (cell) => cell.cpu_ns_per_row, { text: (row) => row.cell.cpu_ns_per_row === null ? DASH : grouped(Math.round(row.cell.cpu_ns_per_row)) }),
    ...optional("log flushes/s", (cell) => cell.log_flushes_per_s, { text: (row) => grouped(Math.round(row.cell.log_flushes_per_s)) }),
    ...optional("bytes per flush", (cell) => cell.log_bytes_per_flush, { text: (row) => grouped(Math.round(row.cell.log_bytes_per_flush)) }),
    ...optional("log, MB/s", (cell) => cell.log_mb_per_s),
    ...optional("context switches/s", (cell) => cell.context_switches_per_s, { text: (row) => grouped(Math.round(row.cell.context_switches_per_s)) }),
    ...ownFigures(run),
  ], rows, { name: "summary" });
}

/** The names of figures that only this experiment has: those of most cells, at most six. */
function ownNames(run) {
  const names = [...new Set(run.cells.flatMap((cell) => Object.keys(cell.figures || {})))];
  return names.filter((name) => run.cells.filter((cell) => (cell.figures || {})[name]).length * 2 >= run.cells.length).slice(0, 6);
}

function ownFigures(run) {
  return ownNames(run).map((name) => {
    const first = run.cells.map((cell) => (cell.figures || {})[name]).find(Boolean);
    return { head: name.replaceAll("_", " ") + (first.unit ? ", " + first.unit : ""), title: first.what, value: (row) => ((row.cell.figures || {})[name] || {}).value ?? null };
  });
}

function pairsTable(comparisons) {
  return [el("h3", null, "Interleaved pairs"),
    el("p.small", null, "Each ratio is b over a, with its 95% interval; the floor is what equal arms showed in the same run; the least effect is what so many pairs of this noise would have shown in 8 of 10 runs."),
    table([
      { head: "figure", kind: "text", value: (row) => row.figure },
      { head: "a", kind: "text", value: (row) => row.a },
      { head: "b", kind: "text", value: (row) => row.b },
      { head: "pairs", value: (row) => row.pairs },
      { head: "b / a", value: (row) => row.ratio, text: (row) => row.ratio.toFixed(3) },
      { head: "95% interval", value: (row) => row.low, text: (row) => row.low.toFixed(3) + " to " + row.high.toFixed(3) },
      { head: "floor", value: (row) => row.floor, text: (row) => `${row.floor.toFixed(3)} (${row.floor_low.toFixed(3)} to ${row.floor_high.toFixed(3)})` },
      { head: "least effect", value: (row) => row.least_detectable, text: (row) => percent(Math.abs(row.least_detectable - 1)) },
      { head: "verdict", kind: "text", value: (row) => row.verdict === "differs" ? "differs" : "cannot tell" },
    ], comparisons, { name: "pairs" }),
    figure("pairs", "Ratio of each pair", "Points: pairs. Line: the mean and its 95% interval. Shaded: what equal arms showed.", pairsOption(comparisons), { wide: true, height: 60 + comparisons.length * 44 })];
}

function pairsOption(comparisons) {
  return (t, narrow) => ({
    legend: null, grid: { top: 8, bottom: 24 },
    xAxis: { type: "value", scale: true, name: "b / a", nameGap: 24, axisLabel: { formatter: trimmed } },
    yAxis: { type: "category", inverse: true, data: comparisons.map((one) => `${one.figure}: ${one.b} / ${one.a}`), axisLabel: { width: narrow ? 110 : 260, overflow: "break", lineHeight: 14 } },
    tooltip: { trigger: "item", formatter: (item) => tip("pair", [[item.color, "b / a", Number(item.value[0]).toFixed(3)]]) },
    series: [
      ratioBars(comparisons.map((one, i) => [i, one.floor_low, one.floor_high]), t.colour("wait-other"), 14),
      { type: "scatter", symbolSize: 6, itemStyle: { color: t.faint || t.soft, opacity: 0.7 }, data: comparisons.flatMap((one, i) => one.ratios.map((ratio) => [ratio, i])), markLine: { silent: true, symbol: "none", label: { show: false }, lineStyle: { color: t.soft, type: "dashed" }, data: [{ xAxis: 1 }] } },
      ratioBars(comparisons.map((one, i) => [i, one.low, one.high, one.ratio]), armColour(t, 0), 3),
    ],
  });
}

/** Sideways intervals: [row, low, high, middle?]. */
function ratioBars(rows, colour, thickness) {
  return {
    type: "custom", silent: true, tooltip: { show: false }, z: thickness > 5 ? 1 : 4, data: rows, encode: { y: 0, x: [1, 2] },
    renderItem: (_, api) => {
      const low = api.coord([api.value(1), api.value(0)]);
      const high = api.coord([api.value(2), api.value(0)]);
      const children = [{ type: "rect", shape: { x: low[0], y: low[1] - thickness / 2, width: Math.max(high[0] - low[0], 2), height: thickness }, style: { fill: colour } }];
      if (Number.isFinite(api.value(3))) {
        const middle = api.coord([api.value(3), api.value(0)]);
        children.push({ type: "circle", shape: { cx: middle[0], cy: middle[1], r: 5 }, style: { fill: colour } });
      }
      return { type: "group", children };
    },
  };
}

function publishedPart(rows) {
  if (!rows.length) return null;
  return [el("p.small", null, "What the posts printed, and the same figure here where this run has the cell. Their machines are other machines: compare the ratios between arms."),
    table([
      { head: "post", value: (row) => row.post },
      { head: "machine", kind: "long", value: (row) => row.machine },
      { head: "arm", kind: "long", value: (row) => row.arm },
      { head: "figure", kind: "text", value: (row) => row.figure },
      { head: "here", kind: "long", value: (row) => row.here || null },
      { head: "published", value: (row) => row.value ?? row.published, text: (row) => row.published },
      { head: "measured here", value: (row) => row.measured, text: (row) => row.measured === null ? DASH : grouped(row.measured >= 1000 ? Math.round(row.measured) : row.measured) },
      { head: "here / published", value: (row) => row.ratio, text: (row) => row.ratio === null ? DASH : row.ratio.toPrecision(3) },
    ], rows, { name: "published" })];
}

function cellSection(page, run, view) {
  if (!run.cells.length) return;
  const place = el("div");
  const choose = (index) => {
    place.replaceChildren(...cellPart(run, view, index));
    draw();
  };
  const first = run.cells.findIndex((cell) => cell.profile);
  const start = first >= 0 ? first : run.cells.indexOf([...run.cells].sort((a, b) => b.rows_per_s - a.rows_per_s)[0]);
  section(page, "cells", "Cell by cell", chooser("Cell", run.cells.map((cell, index) => `${index + 1}: ${cellTitle(view, cell, index)}`), start, choose), place);
  choose(start);
}

function machinePart(machine) {
  const device = machine.device || {};
  const nodes = (machine.nodes || []).map((node) => `node ${node.id}: ${plural(node.cpus.length, "CPU")}, ${bytes(node.memory_bytes)}, distances ${node.distances.join(" ")}`).join("; ");
  return [el("h3", null, "Machine"), facts([
    ["CPU", machine.cpu_model], ["CPUs", machine.cpus ? `${machine.cpus}, threads of ${plural(machine.cores, "core")} in ${plural(machine.packages, "package")}` : null],
    ["quota", machine.quota_cpus ? plural(machine.quota_cpus, "CPU") : null], ["NUMA", nodes], ["memory", machine.memory_bytes ? bytes(machine.memory_bytes) : null],
    ["kernel", [machine.kernel, machine.architecture].filter(Boolean).join(", ")], ["virtual machine", machine.virtual_machine === undefined ? null : machine.virtual_machine ? "yes" : "no"],
    ["frequency governor", machine.governor], ["clock source", machine.clock_source], ["transparent huge pages", machine.transparent_huge_pages],
    ["load average before the run", (machine.load_average || []).map((load) => load.toFixed(2)).join(" ")],
    ["data folder", device.folder], ["file system", [device.file_system, device.mount_options].filter(Boolean).join(", ")], ["device", device.source],
    ["I/O scheduler", device.io_scheduler], ["write cache", device.write_cache], ["rotational", device.rotational === null || device.rotational === undefined ? null : device.rotational ? "yes" : "no"],
  ], "machine")];
}

function targetPart(target) {
  return [el("h3", null, target.name), target.version ? el("p", null, target.version) : null,
    (target.notes || []).length ? el("ul", null, target.notes.map((note) => el("li", null, note))) : null,
    Object.keys(target.settings || {}).length ? facts(Object.entries(target.settings), "settings") : null];
}

function rawPart(value, name) {
  const text = () => JSON.stringify(value, null, 1);
  const area = el("textarea.raw", { readonly: true, spellcheck: "false", "aria-label": "The document as JSON" });
  return [el("p.small", null, "The whole document is in this file; every figure and plot above is drawn from it."),
    el("div.row", null, saveButton("Save " + name, name, "application/json", text)),
    el("details", { ontoggle: () => { area.value = text(); } }, el("summary", null, "Show it"), area)];
}
