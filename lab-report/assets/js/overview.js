// Plots over all cells: a figure against the varied setting with a line per arm, or stacks with a small plot per arm.

/** Where a point stands on the axis: the axis has a place for each value, evenly apart. */
function xNames(view) {
  return view.x_values.map((value) => grouped(value));
}

/** A line per arm; when nothing numeric varies, a bar per arm. */
function linesChart(run, view, of) {
  const value = (point) => point.figures[of.key] || null;
  const arms = linesOf(view);
  const any = arms.some((arm) => arm.points.some((point) => value(point) && value(point).mean > 0));
  if (!any) return null;
  if (view.x_values.length < 2) return barsChart(view, of, value);
  return (t, narrow, log) => {
    const series = [];
    arms.forEach((arm, index) => {
      const colour = armColour(t, index);
      const at = arm.points.filter((point) => value(point)).map((point) => [view.x_values.indexOf(point.x), value(point)]);
      if (!at.length) return;
      series.push({
        name: arm.label, type: "line", data: at.map(([x, figure]) => ({ value: [x, figure.mean], figure })),
        symbol: SYMBOLS[Math.floor(index / 8) % 4 + (index % 4)], symbolSize: 7, showAllSymbol: true, lineStyle: { width: 2 }, itemStyle: { color: colour },
      });
      const bars = at.filter(([, figure]) => figure.low !== null).map(([x, figure]) => [x, log ? Math.max(figure.low, figure.mean / 20) : figure.low, figure.high]);
      if (bars.length) series.push(whiskers(arm.label, bars, colour));
      if (of.second) {
        const more = arm.points.filter((point) => point.figures[of.second]).map((point) => [view.x_values.indexOf(point.x), point.figures[of.second]]);
        if (more.length) series.push({
          name: arm.label, type: "line", data: more.map(([x, figure]) => ({ value: [x, figure.mean], figure, second: true })),
          symbol: "emptyCircle", symbolSize: 5, lineStyle: { width: 1.3, type: [4, 4] }, itemStyle: { color: colour },
        });
      }
    });
    return {
      legend: arms.length > 1 ? {} : null,
      grid: { bottom: 26 },
      xAxis: { type: "category", data: xNames(view), name: view.x_label, boundaryGap: true },
      yAxis: { type: log ? "log" : "value", name: of.unit, min: log ? undefined : 0, axisLabel: { formatter: of.axis || short } },
      tooltip: {
        trigger: "axis",
        formatter: (items) => tip(view.x_label + " " + items[0].axisValueLabel, items.filter((item) => item.data.figure).map((item) => {
          const figure = item.data.figure;
          const interval = figure.low === null ? "" : ` (${of.text(figure.low)} to ${of.text(figure.high)})`;
          return [item.color, item.seriesName + (of.second ? (item.data.second ? ", " + of.secondName : ", " + of.firstName) : ""), of.text(figure.mean) + interval];
        })),
      },
      series,
    };
  };
}

function barsChart(view, of, value) {
  return (t) => {
    const arms = view.arms.filter((arm) => arm.points.length && value(arm.points[0]));
    const bars = arms.map((arm) => ({ value: value(arm.points[0]).mean, figure: value(arm.points[0]), itemStyle: { color: armColour(t, view.arms.indexOf(arm)) } }));
    return {
      legend: null, grid: { top: 10, right: 70 },
      yAxis: { type: "category", data: arms.map((arm) => arm.label), inverse: true, axisLabel: { interval: 0, hideOverlap: false, width: 150, overflow: "break", lineHeight: 13 } },
      xAxis: { type: "value", min: 0, name: of.unit, axisLabel: { formatter: of.axis || short } },
      tooltip: { trigger: "item", formatter: (item) => tip(item.name, [[item.color, of.unit, of.text(item.data.figure.mean)]]) },
      series: [{ type: "bar", data: bars, barMaxWidth: 22, label: { show: true, position: "right", offset: [0, -9], color: t.soft, formatter: (item) => short(item.value) } },
        sidewaysWhiskers(bars, t.ink)],
    };
  };
}

function sidewaysWhiskers(bars, colour) {
  return {
    type: "custom", silent: true, z: 4, tooltip: { show: false },
    data: bars.map((bar, index) => [index, bar.figure.low, bar.figure.high]).filter(([, low]) => low !== null), encode: { y: 0, x: [1, 2] },
    renderItem: (_, api) => {
      const low = api.coord([api.value(1), api.value(0)]);
      const high = api.coord([api.value(2), api.value(0)]);
      return { type: "line", shape: { x1: low[0], y1: low[1], x2: high[0], y2: high[1] }, style: { stroke: colour, lineWidth: 1.5 } };
    },
  };
}

/** Of one row of small plots. */
const STACK_HEIGHT = 170;

/** A small plot per arm, all on one scale: stacked bars of parts against the varied setting.
 *  `parts`: [{name, colour(theme), value(cell)}]. */
function stacksChart(run, view, of, parts) {
  // Without an axis: one plot, an arm beside the other.
  if (view.x_values.length < 2 && view.arms.length > 1) {
    const points = view.arms.map((arm) => ({ ...arm.points[0], name: arm.label }));
    view = { ...view, x_values: [0, 1], x_label: "", arms: [{ label: "", points }] };
  }
  const rowHeight = view.x_label ? STACK_HEIGHT : STACK_HEIGHT + 70;
  const shown = parts.filter((part) => run.cells.some((cell) => part.value(cell) > 0));
  const arms = linesOf(view).filter((arm) => arm.points.some((point) => shown.some((part) => pointMean(run, point, part.value) > 0)));
  if (!shown.length || !arms.length) return null;
  const most = Math.max(...arms.flatMap((arm) => arm.points.map((point) =>
    shown.reduce((sum, part) => sum + (pointMean(run, point, part.value) || 0), 0))));
  return {
    height: (narrow) => 16 + Math.ceil(arms.length / (narrow ? 1 : Math.min(2, arms.length))) * rowHeight,
    build: (t, narrow) => {
      const across = narrow ? 1 : Math.min(2, arms.length);
      const down = Math.ceil(arms.length / across);
      const option = {
        title: [], grid: [], xAxis: [], yAxis: [], series: [],
        tooltip: {
          trigger: "axis", axisPointer: { type: "shadow" },
          formatter: (items) => tip([items[0].seriesId.split("\u0000")[0], view.x_label + " " + items[0].axisValueLabel].filter(Boolean).join(", "),
            items.filter((item) => item.value > 0).reverse().map((item) => [item.color, item.seriesName, of.text(item.value)])),
        },
      };
      arms.forEach((arm, index) => {
        const [column, row] = [index % across, Math.floor(index / across)];
        const width = 100 / across;
        const top = 26 + row * rowHeight;
        option.grid.push({ left: across > 1 ? column * width + (column ? 2 : 0.5) + "%" : 8, width: across > 1 ? width - 3 + "%" : "auto", right: across > 1 ? undefined : 16, top, height: rowHeight - 46, bottom: undefined, containLabel: true });
        option.title.push({ text: arm.label, left: across > 1 ? column * width + (column ? 2 : 0.5) + "%" : 8, top: top - 24, textStyle: { fontSize: 12, fontWeight: 600, color: t.ink, width: 320, overflow: "truncate" } });
        option.xAxis.push({ type: "category", gridIndex: index, data: arm.points.map((point) => point.name || grouped(point.x)), name: row === down - 1 ? view.x_label : "", nameGap: 24, axisLabel: arm.label ? {} : { interval: 0, hideOverlap: false, width: narrow ? 90 : 160, overflow: "break", lineHeight: 14 } });
        option.yAxis.push({ type: "value", gridIndex: index, ...tidyScale(most), axisLabel: { formatter: of.axis || short } });
        shown.forEach((part, place) => option.series.push({
          id: arm.label + "\u0000" + place, name: part.name, type: "bar", stack: "stack " + index, xAxisIndex: index, yAxisIndex: index, barMaxWidth: 34, barCategoryGap: "35%",
          itemStyle: { color: part.colour(t) }, data: arm.points.map((point) => pointMean(run, point, part.value) || 0),
        }));
      });
      return option;
    },
  };
}

/** A round number above, and round steps up to it, for scales that several plots share. */
function tidyScale(value) {
  const unit = 10 ** Math.floor(Math.log10(value));
  const [max, steps] = [[1, 4], [1.5, 3], [2, 4], [2.5, 5], [3, 3], [4, 4], [5, 5], [6, 3], [8, 4], [10, 4]].find(([top]) => top * unit >= value);
  return { max: max * unit, interval: max * unit / steps };
}

function stacksFigure(run, view, name, title, note, of, parts) {
  const chart = stacksChart(run, view, of, parts);
  if (!chart) return null;
  const narrow = document.documentElement.clientWidth < 640;
  return figure(name, title, note, (t, thin) => chart.build(t, narrow || thin), { wide: true, height: chart.height(narrow) });
}

function linesFigure(run, view, name, title, note, of) {
  const build = linesChart(run, view, of);
  const bars = view.x_values.length < 2;
  // Where one arm is a hundred times another, a linear scale shows only the larger.
  const all = view.arms.flatMap((arm) => arm.points.map((point) => (point.figures[of.key] || {}).mean)).filter((mean) => mean > 0);
  const wide = Math.max(...all) / Math.min(...all) > 100;
  return build && figure(name, title, note, build, { height: bars ? 60 + 46 * view.arms.length : undefined, scale: bars ? null : of.log || wide ? "log" : "linear" });
}

function throughputFigures(run, view) {
  return [
    linesFigure(run, view, "throughput", thing(run)[0].toUpperCase() + thing(run).slice(1) + " per second", view.interval_note, { key: "rows_per_s", unit: thing(run) + "/s", text: (v) => grouped(Math.round(v)) }),
    linesFigure(run, view, "latency", thing(run) === "rows" ? "Commit latency" : "Latency", view.x_values.length > 1 ? "Solid: median. Dashed: 99th percentile." : "Median.",
      { key: "p50_us", second: "p99_us", firstName: "median", secondName: "99%", unit: "", log: true, axis: duration, text: duration }),
    linesFigure(run, view, "cpu", "CPU per " + thing(run).slice(0, -1), "User and system time of the engine's process.", { key: "cpu_ns_per_row", unit: "ns", text: (v) => grouped(Math.round(v)) + " ns" }),
  ];
}

function waitsFigure(run, view) {
  const share = (cell, name) => { const wait = (cell.waits || {})[name]; return wait ? wait.wait_time_ms / (cell.sessions * cell.seconds * 1000) : 0; };
  // Those too short to see are in the cells' tables.
  const types = waitTypes(run.cells).filter((type) => run.cells.some((cell) => share(cell, type.name) >= 0.001));
  if (!types.length) return run.cells.some((cell) => Object.keys(cell.waits || {}).length) ? el("p.small.wide", null, "No wait took a thousandth of the sessions' time.") : null;
  const parts = types.map((type) => ({
    name: type.name, colour: (t) => waitColours(t, types)[type.name],
    value: (cell) => share(cell, type.name),
  }));
  return stacksFigure(run, view, "waits", "Waits, as a share of the sessions' time",
    "Time waited in the window, divided by sessions × seconds. What is missing to 100% ran, or waited for the client. Waits of background tasks count too, so a stack may pass 100%.",
    { axis: (v) => Math.round(v * 100) + "%", text: percent }, parts);
}

function spinsFigure(run, view) {
  const names = [...new Set(run.cells.flatMap((cell) => Object.entries(cell.spins || {}).filter(([, spin]) => spin.spins > 0).map(([name]) => name)))].sort();
  const parts = names.map((name, index) => ({
    name, colour: (t) => armColour(t, [1, 3, 4, 5, 6, 7, 2, 0][index % 8]),
    value: (cell) => { const spin = (cell.spins || {})[name]; return spin && cell.rows > 0 ? spin.spins / cell.rows : 0; },
  }));
  return stacksFigure(run, view, "spins", "Spins per row", "Turns of the waiting loop of each spinlock, divided by rows.", { text: grouped }, parts);
}

function logFigures(run, view) {
  return [
    linesFigure(run, view, "log-throughput", "Log throughput", "Bytes written to the log.", { key: "log_mb_per_s", unit: "MB/s", text: (v) => grouped(v) + " MB/s" }),
    linesFigure(run, view, "log-flushes", "Log flushes per second", null, { key: "log_flushes_per_s", unit: "flushes/s", text: grouped }),
  ];
}

const PHASES = [["queue", "wait-log-space"], ["submit", "wait-cpu"], ["device", "wait-log-write"], ["wake-up", "wait-latch"]];

function logWriteFigure(run, view) {
  // Only the four phases add up; whatever else was timed stands in the table.
  const parts = PHASES.map(([name, colour]) => ({
    name, colour: (t) => t.colour(colour),
    value: (cell) => { const phase = (cell.log_writes || []).find((one) => one.phase === name); return phase ? phase.mean_us : 0; },
  }));
  return stacksFigure(run, view, "log-writes", "Where a log write's time goes", "Mean time of each phase. Percentiles are in the table below.",
    { axis: duration, text: duration }, parts);
}

/** A plot for each figure that only this experiment has. */
function ownPlots(run, view) {
  return ownNames(run).map((name) => {
    const first = run.cells.map((cell) => (cell.figures || {})[name]).find(Boolean);
    const points = (arm) => arm.points.map((point) => {
      const mean = pointMean(run, point, (cell) => ((cell.figures || {})[name] || {}).value);
      return { ...point, figures: mean === null ? {} : { own: { mean, low: null, high: null } } };
    });
    const arms = view.arms.map((arm) => ({ ...arm, points: points(arm) }));
    return linesFigure(run, { ...view, arms }, "own-" + name, name.replaceAll("_", " "), first.what, { key: "own", unit: first.unit, text: (v) => grouped(v) + " " + first.unit });
  });
}
