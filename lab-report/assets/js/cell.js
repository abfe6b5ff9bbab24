// One cell: its course on one clock, latencies over time, and its tables.

/** The whole of a cell's part of the page, made anew for each choice. */
function cellPart(run, view, index) {
  const cell = run.cells[index];
  const plots = [
    ...timeFigures(run, cell), heatFigure(cell), histogramFigure(cell),
  ].filter(Boolean);
  return [
    el("p", null, cellWords(run, cell)),
    (cell.marks || []).map((mark) => markBox(mark)),
    cell.audit ? auditWords(cell.audit) : null,
    plots.length ? el("div.plots", null, plots) : null,
    waitTable(cell), spinTable(cell), latchTable(cell), logWriteTable(cell), figureTable(cell),
    profilePart(cell),
  ].flat(Infinity).filter(Boolean);
}

function cellWords(run, cell) {
  const parts = [`${grouped(Math.round(cell.rows_per_s))} ${thing(run)}/s over ${grouped(cell.seconds)} s${cell.rows_verified ? `; ${grouped(cell.rows_verified)} rows found in the table, all that were acknowledged` : ""}.`];
  const warmup = cell.warmup;
  if (warmup && (warmup.seconds > 0 || warmup.why)) {
    parts.push(` ${grouped(warmup.seconds)} s cut before the window${warmup.why ? ": " + warmup.why.replace(/\.$/, "") : ""}.`);
  }
  if (cell.device_flush) {
    parts.push(` The device's own flush of 4 KiB: ${duration(cell.device_flush.p10_us)} at the lowest decile, ${duration(cell.device_flush.p50_us)} at the median; a commit: ${duration(cell.p10_us)} and ${duration(cell.p50_us)}.`);
  }
  return parts.join("");
}

function auditWords(audit) {
  return el("p" + (audit.agrees ? "" : ".mark.bad"), null,
    `Commits in flight, by Little's law ${grouped(audit.by_throughput)}, counted ${grouped(audit.by_count)} (${plural(audit.looks, "look")}), by waits ${grouped(audit.by_waits)}: `,
    `${percent(audit.spread)} apart, ` + (audit.agrees ? `within the ${percent(audit.tolerance)} allowed.` : `more than the ${percent(audit.tolerance)} allowed. The accounting is wrong, or the load was not steady.`));
}

/** The ticks of a cell; of an older document, or of a target without them, its course. */
function ticksOf(cell) {
  if (cell.series && cell.series.ticks.length) return cell.series.ticks;
  return (cell.course || []).map((moment) => ({ at_s: moment.at_s, rows_per_s: moment.rows_per_s }));
}

function windowOf(cell) {
  if (cell.series && cell.series.window_to_s > 0) return [cell.series.window_from_s, cell.series.window_to_s];
  const last = (cell.course || []).at(-1);
  return last ? [Math.max(0, last.at_s - cell.seconds), last.at_s] : null;
}

function timeFigures(run, cell) {
  const ticks = ticksOf(cell);
  if (ticks.length < 2) return [];
  const lines = (name, title, note, unit, all, options = {}) => {
    const present = all.filter((one) => ticks.some((tick) => Number.isFinite(one.value(tick)) && (one.value(tick) > 0 || options.zero)));
    if (!present.length) return null;
    return figure(name, title, note, (t) => timeOption(t, cell, ticks, unit, present, options), { wide: options.wide, size: options.size });
  };
  const waits = waitTypes([cell]);
  const spins = Object.keys(cell.spins || {});
  return [
    lines("course", thing(run)[0].toUpperCase() + thing(run).slice(1) + " per second over time", "One point per tick, warm-up included. The measured window is shaded.", thing(run) + "/s",
      [{ name: thing(run) + "/s", colour: (t) => armColour(t, 0), value: (tick) => tick.rows_per_s }], { wide: true, size: "low" }),
    lines("course-waits", "Waits over time", "Seconds waited per second: how many tasks waited.", "tasks",
      waits.map((type) => ({ name: type.name, colour: (t) => waitColours(t, waits)[type.name], value: (tick) => tick.waits_ms_per_s ? (tick.waits_ms_per_s[type.name] || 0) / 1000 : NaN })), { stack: true, size: "low" }),
    lines("course-log", "Log over time", null, "MB/s",
      [{ name: "MB/s", colour: (t) => t.colour("wait-log-write"), value: (tick) => number(tick.log_mb_per_s) },
        { name: "flushes/s (right)", right: true, colour: (t) => t.colour("wait-latch"), value: (tick) => number(tick.log_flushes_per_s) }], { size: "low", right: "flushes/s" }),
    lines("course-cpu", "CPU over time", "CPUs' worth of time used by the engine's process; tasks ready to run; stolen by the hypervisor.", "CPUs",
      [{ name: "CPUs used", colour: (t) => armColour(t, 0), value: (tick) => number(tick.cpus_used) },
        { name: "run queue (right)", right: true, colour: (t) => armColour(t, 1), value: (tick) => number(tick.run_queue) },
        { name: "stolen, share of machine", colour: (t) => armColour(t, 6), value: (tick) => number(tick.steal) }], { size: "low", right: "tasks" }),
    lines("course-switches", "Context switches over time", null, "per second",
      [{ name: "context switches/s", colour: (t) => armColour(t, 4), value: (tick) => number(tick.context_switches_per_s) }], { size: "low" }),
    lines("course-spins", "Spins over time", null, "spins/s",
      spins.map((name, index) => ({ name, colour: (t) => armColour(t, index + 1), value: (tick) => tick.spins_per_s ? tick.spins_per_s[name] || 0 : NaN })), { size: "low" }),
  ];
}

function number(value) {
  return value === null || value === undefined ? NaN : value;
}

function timeOption(t, cell, ticks, unit, all, options) {
  const window = windowOf(cell);
  const right = all.some((one) => one.right);
  const end = ticks.at(-1).at_s;
  return {
    legend: all.length > 1 ? {} : null,
    grid: { top: 26, bottom: 22, right: right ? 8 : 16 },
    xAxis: { type: "value", min: 0, max: end, name: "seconds", nameGap: 22, splitLine: { show: false } },
    yAxis: [{ type: "value", min: 0, name: unit, axisLabel: { formatter: short }, splitNumber: 4 }]
      .concat(right ? [{ type: "value", min: 0, name: options.right, nameTextStyle: { align: "right" }, axisLabel: { formatter: short }, splitLine: { show: false }, splitNumber: 4 }] : []),
    tooltip: { trigger: "axis", formatter: (items) => tip(grouped(items[0].value[0]) + " s", items.filter((item) => item.value[1] > 0 || all.length < 4).map((item) => [item.color, item.seriesName, grouped(item.value[1])])) },
    series: all.map((one, index) => ({
      name: one.name, type: "line", showSymbol: false, stack: options.stack ? "all" : undefined, yAxisIndex: one.right ? 1 : 0,
      lineStyle: { width: options.stack ? 0 : 1.5 }, areaStyle: options.stack ? { opacity: 0.85 } : undefined, itemStyle: { color: one.colour(t) },
      data: ticks.filter((tick) => Number.isFinite(one.value(tick))).map((tick) => [tick.at_s, one.value(tick)]),
      markArea: index === 0 && window ? { silent: true, itemStyle: { color: t.colour("shade") }, data: [[{ xAxis: window[0] }, { xAxis: Math.min(window[1], end) }]] } : undefined,
    })),
  };
}

/** Buckets on a logarithmic scale, eight to a factor of ten: few enough to see, and the document's are finer. */
const PER_DECADE = 8;

function bucketOf(us) {
  return Math.round(Math.log10(Math.max(us, 0.01)) * PER_DECADE);
}

function bucketName(bucket) {
  return duration(10 ** (bucket / PER_DECADE));
}

function coarse(buckets) {
  const counts = new Map();
  for (const [us, count] of buckets || []) counts.set(bucketOf(us), (counts.get(bucketOf(us)) || 0) + count);
  return counts;
}

function heatFigure(cell) {
  const moments = ((cell.series || {}).latency || []).map((moment) => ({ at_s: moment.at_s, counts: coarse(moment.histogram) })).filter((moment) => moment.counts.size);
  if (moments.length < 2) return null;
  const all = moments.flatMap((moment) => [...moment.counts.keys()]);
  const [low, high] = [Math.min(...all), Math.max(...all)];
  const names = Array.from({ length: high - low + 1 }, (_, i) => bucketName(low + i));
  const data = moments.flatMap((moment, x) => {
    const total = [...moment.counts.values()].reduce((a, b) => a + b, 0);
    return [...moment.counts].map(([bucket, count]) => ({ value: [x, bucket - low, Math.log10(count)], count, share: count / total }));
  });
  const most = Math.max(...data.map((item) => item.value[2]), 1);
  return figure("heat", "Latency over time", "Each column is a moment; the stronger the colour, the more commits of that latency (logarithmic).", (t) => ({
    legend: null, grid: { top: 12, bottom: 22 },
    xAxis: { type: "category", data: moments.map((moment) => trimmed(moment.at_s)), name: "seconds", nameGap: 22, axisLabel: { interval: "auto" } },
    yAxis: { type: "category", data: names, splitLine: { show: false } },
    visualMap: { show: false, min: 0, max: most, dimension: 2, inRange: { color: [1, 2, 3, 4].map((n) => t.colour("heat-" + n)) } },
    tooltip: { formatter: (item) => tip(moments[item.value[0]].at_s.toFixed(1) + " s, about " + names[item.value[1]], [[item.color, "commits", grouped(item.data.count)], [null, "share of the moment", percent(item.data.share)]]) },
    series: [{ type: "heatmap", data, itemStyle: { borderWidth: 0 }, emphasis: { itemStyle: { borderColor: t.ink, borderWidth: 1 } } }],
  }));
}

function histogramFigure(cell) {
  const counts = coarse(cell.latency);
  if (counts.size < 2) return null;
  const [low, high] = [Math.min(...counts.keys()), Math.max(...counts.keys())];
  const names = Array.from({ length: high - low + 1 }, (_, i) => bucketName(low + i));
  const total = [...counts.values()].reduce((a, b) => a + b, 0);
  return figure("histogram", "Commit latency of the window", "Commits by latency; both scales are logarithmic.", (t) => ({
    legend: null, grid: { top: 28, bottom: 8 },
    xAxis: { type: "category", data: names },
    yAxis: { type: "log", min: 0.8, name: "commits", axisLabel: { formatter: short } },
    tooltip: { trigger: "axis", axisPointer: { type: "shadow" }, formatter: (items) => tip("about " + items[0].name, [[items[0].color, "commits", grouped(items[0].value)], [null, "share", trimmed(items[0].value / total * 100) + "%"]]) },
    series: [{ type: "bar", barCategoryGap: "8%", itemStyle: { color: armColour(t, 0) }, data: names.map((_, i) => counts.get(low + i) ?? null) }],
  }));
}

function waitTable(cell) {
  const rows = Object.entries(cell.waits || {}).map(([name, wait]) => ({ name, category: categoryOf(cell, name), ...wait })).filter((row) => row.category !== "idle" && (row.waiting_tasks_count > 0 || row.name === "WRITELOG"));
  if (!rows.length) return null;
  return table([
    { head: "wait", kind: "text", value: (row) => row.name },
    { head: "category", kind: "text", value: (row) => row.category },
    { head: "waiting tasks", value: (row) => row.waiting_tasks_count },
    { head: "wait, ms", value: (row) => row.wait_time_ms },
    { head: "signal, ms", title: "Of it: ready to run, and waiting for a CPU", value: (row) => row.signal_wait_time_ms },
    { head: "average, µs", value: (row) => row.waiting_tasks_count ? row.wait_time_ms * 1000 / row.waiting_tasks_count : null },
    { head: "longest, ms", value: (row) => row.max_wait_time_ms },
    { head: "share of sessions' time", value: (row) => row.wait_time_ms / (cell.sessions * cell.seconds * 1000), text: (row) => percent(row.wait_time_ms / (cell.sessions * cell.seconds * 1000)) },
  ], rows, { caption: "Waits", name: "waits", sort: [3, "down"] });
}

function spinTable(cell) {
  const rows = Object.entries(cell.spins || {}).map(([name, spin]) => ({ name, ...spin, cpu: (cell.spin_cpu || {})[name] })).filter((row) => row.collisions > 0);
  if (!rows.length) return Object.keys(cell.spins || {}).length ? el("p.small", null, "No spinlock had a collision.") : null;
  const cpu = rows.some((row) => row.cpu) ? [
    { head: "ns per spin", value: (row) => row.cpu ? row.cpu.ns_per_spin : null },
    { head: "cycles per spin", value: (row) => row.cpu ? row.cpu.cycles_per_spin : null },
    { head: "CPU, by clock", title: "Share of the process's CPU time: spins times the cost of one", value: (row) => row.cpu ? row.cpu.share_by_clock : null, text: (row) => percent(row.cpu ? row.cpu.share_by_clock : null) },
    { head: "CPU, by profile", title: "Share of the samples with the lock's back-off on the stack", value: (row) => row.cpu ? row.cpu.share_by_profile : null, text: (row) => percent(row.cpu ? row.cpu.share_by_profile : null) },
  ] : [];
  return table([
    { head: "spinlock", kind: "text", value: (row) => row.name },
    { head: "collisions", value: (row) => row.collisions },
    { head: "spins", value: (row) => row.spins },
    { head: "per collision", value: (row) => row.spins_per_collision },
    { head: "per row", value: (row) => cell.rows ? row.spins / cell.rows : null },
    { head: "back-offs", value: (row) => row.backoffs },
    { head: "sleep, ms", value: (row) => row.sleep_time_ms },
    ...cpu,
  ], rows, { caption: "Spinlocks", name: "spinlocks", sort: [2, "down"] });
}

function latchTable(cell) {
  const rows = Object.entries(cell.latches || {}).map(([name, latch]) => ({ name, ...latch }));
  if (!rows.length) return null;
  return table([
    { head: "latch class", kind: "text", value: (row) => row.name },
    { head: "waiting requests", value: (row) => row.waiting_requests_count },
    { head: "wait, ms", value: (row) => row.wait_time_ms },
    { head: "longest, ms", value: (row) => row.max_wait_time_ms },
  ], rows, { caption: "Latches", name: "latches", sort: [2, "down"] });
}

function logWriteTable(cell) {
  if (!(cell.log_writes || []).length) return null;
  return table([
    { head: "phase", kind: "text", value: (row) => row.phase },
    { head: "count", value: (row) => row.count },
    ...["mean", "p50", "p90", "p99", "max"].map((name) => ({ head: name + ", µs", value: (row) => row[name + "_us"] })),
  ], cell.log_writes, { caption: "Log writes, by phase", name: "log-writes" });
}

function figureTable(cell) {
  const rows = Object.entries(cell.figures || {}).map(([name, one]) => ({ name, ...one }));
  if (!rows.length) return null;
  return table([
    { head: "figure", kind: "text", value: (row) => row.name },
    { head: "value", value: (row) => row.value },
    { head: "unit", kind: "text", value: (row) => row.unit },
    { head: "what it is", kind: "long", value: (row) => row.what },
  ], rows, { caption: "Figures of this experiment", name: "figures" });
}
