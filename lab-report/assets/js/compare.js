// The page of `lab compare A B`: ratios with intervals, then both runs' plots on one scale.

function comparePage(data) {
  const { comparison, a, b } = data;
  const page = frame();
  document.title = `${comparison.a.name} and ${comparison.b.name}`;
  const side = (letter, one, run) => [el("h3", null, `${letter}: ${one.name}`), el("p.small", null, [run.run.experiment, run.run.machine && run.run.machine.cpu_model, one.settings].filter(Boolean).join(" · ")), run.run.command ? commandBox(run.run.command) : null,
    (run.run.marks || []).map((mark) => markBox(mark, letter))];
  append(page.header, [el("h1", null, "Comparison"), side("A", comparison.a, a), side("B", comparison.b, b), comparison.notes.map((note) => el("div.mark", null, note))]);
  section(page, "ratios", "Ratios, B over A", el("p.small", null, comparison.explanation), ratioTable(comparison.rows), ratioFigure(comparison.rows));
  const pair = joined(a, b);
  section(page, "throughput", "Throughput", el("div.plots", null, throughputFigures(pair.run, pair.view).filter(Boolean)));
  section(page, "waits", "Waits and spins", el("div.plots", null, [waitsFigure(pair.run, pair.view), spinsFigure(pair.run, pair.view)].filter(Boolean)));
  const log = logFigures(pair.run, pair.view).concat(logWriteFigure(pair.run, pair.view)).filter(Boolean);
  section(page, "log", "Log", log.length ? el("div.plots", null, log) : null);
  section(page, "raw", "Raw data", rawPart({ a: a.run, b: b.run, comparison }, "comparison.json"));
  page.footer.append(`millrace lab, version ${data.version}. Plots by Apache ECharts 6.1.0, which is in this file. Nothing is loaded from anywhere.`);
  draw();
}

function ratioTable(rows) {
  return table([
    { head: "cells", kind: "text", value: (row) => row.cells },
    { head: "figure", kind: "text", value: (row) => row.figure },
    { head: "A", value: (row) => row.a, text: (row) => grouped(row.a >= 100 ? Math.round(row.a) : row.a) },
    { head: "B", value: (row) => row.b, text: (row) => grouped(row.b >= 100 ? Math.round(row.b) : row.b) },
    { head: "B / A", value: (row) => row.ratio, text: (row) => row.ratio.toFixed(3) },
    { head: "95% interval", value: (row) => row.low, text: (row) => row.low === null ? DASH : row.low.toFixed(3) + " to " + row.high.toFixed(3) },
    { head: "least effect", title: "The least effect that figures of this noise show in 8 of 10 runs", value: (row) => row.least_detectable, text: (row) => row.least_detectable === null ? DASH : percent(row.least_detectable - 1) },
    { head: "from", kind: "text", value: (row) => row.basis },
    { head: "verdict", kind: "text", value: (row) => row.verdict },
    { head: "marks", kind: "text", value: (row) => row.marks.length, node: (row) => el("span", null, markTags(row.marks)) },
  ], rows, { name: "ratios" });
}

function ratioFigure(rows) {
  const shown = rows.filter((row) => row.figure === "rows_per_s" || row.figure === rows[0].figure);
  if (!shown.length) return null;
  return figure("ratios", "Throughput, B over A", "The mean and its 95% interval; the dashed line is no difference.", (t, narrow) => ({
    legend: null, grid: { top: 8, bottom: 24 },
    xAxis: { type: "value", scale: true, name: "B / A", nameGap: 24, axisLabel: { formatter: trimmed }, min: (v) => Math.min(v.min, 0.98), max: (v) => Math.max(v.max, 1.02) },
    yAxis: { type: "category", inverse: true, data: shown.map((row) => row.cells), axisLabel: { width: narrow ? 110 : 260, overflow: "break", lineHeight: 14 } },
    tooltip: { trigger: "item", formatter: (item) => tip(shown[item.value[1]].cells, [[item.color, "B / A", shown[item.value[1]].ratio.toFixed(3)]]) },
    series: [
      ratioBars(shown.map((row, i) => [i, row.low ?? row.ratio, row.high ?? row.ratio, row.ratio]), armColour(t, 0), 3),
      { type: "scatter", symbolSize: 10, itemStyle: { color: armColour(t, 0) }, data: shown.map((row, i) => [row.ratio, i]), markLine: { silent: true, symbol: "none", label: { show: false }, lineStyle: { color: t.soft, type: "dashed" }, data: [{ xAxis: 1 }] } },
    ],
  }), { wide: true, height: 60 + shown.length * 34 });
}

/** Both runs as one, their arms named after their side. */
function joined(a, b) {
  const offset = a.run.cells.length;
  const x_values = [...new Set([...a.view.x_values, ...b.view.x_values])].sort((p, q) => p - q);
  const arms = [...a.view.arms.map((arm) => ({ ...arm, label: "A: " + arm.label })),
    ...b.view.arms.map((arm) => ({ label: "B: " + arm.label, points: arm.points.map((point) => ({ ...point, cells: point.cells.map((index) => index + offset) })) }))];
  return { run: { ...a.run, cells: a.run.cells.concat(b.run.cells) }, view: { ...a.view, x_values, arms, places: a.view.places.concat(b.view.places) } };
}
