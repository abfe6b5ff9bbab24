// Charts: a figure with a heading, an axis, and colours from the style sheet; drawn again when the colour scheme
// changes, resized with its place. A chart is a function from the theme to an ECharts option.

const drawn = [];

/** The style sheet's colours, as they are now. */
function theme() {
  const style = getComputedStyle(document.documentElement);
  const colour = (name) => style.getPropertyValue("--" + name).trim();
  return { colour, ink: colour("ink"), soft: colour("soft"), line: colour("line"), grid: colour("grid"), paper: colour("paper"), raised: colour("raised") };
}

/** Eight colours for arms, then again from the first with another symbol. */
function armColour(t, index) {
  return t.colour("arm-" + (index % 8));
}

const SYMBOLS = ["circle", "rect", "triangle", "diamond", "emptyCircle", "emptyRect", "emptyTriangle", "emptyDiamond"];

/** A figure; `build(theme, narrow, log)` gives the option, or null when there is nothing to show: then there is no figure.
 *  `options.scale`: a button changes between a linear scale and a logarithmic one; "log" begins with the latter. */
function figure(name, title, note, build, options = {}) {
  if (!build(theme(), false)) return null;
  const plot = el("div.plot" + (options.size ? "." + options.size : ""), { "data-chart": name, role: "img", "aria-label": title + ". " + (note || "") });
  if (options.height) plot.style.height = options.height + "px";
  const legend = el("div.legend");
  const entry = { plot, legend, build, chart: null, click: options.click, hidden: new Set(), log: options.scale === "log" };
  const scale = options.scale ? el("button.button", { type: "button", title: "Change the scale", onclick: () => { entry.log = !entry.log; scale.textContent = scaleName(entry.log); show(entry); } }, scaleName(entry.log)) : null;
  const node = el("figure" + (options.wide ? ".wide" : ""), null,
    el("figcaption", null, scale, el("h3", null, title), note ? el("p", null, note) : null), legend, plot);
  drawn.push(entry);
  return node;
}

function scaleName(log) {
  return log ? "Scale: logarithmic" : "Scale: linear";
}

/** Draws every figure that has come into the page; forgets those that left it. */
function draw() {
  for (let i = drawn.length - 1; i >= 0; i--) {
    const entry = drawn[i];
    if (entry.chart && !entry.plot.isConnected) {
      entry.chart.dispose();
      entry.watch.disconnect();
      drawn.splice(i, 1);
    }
  }
  for (const entry of drawn) {
    if (entry.chart || !entry.plot.isConnected) continue;
    entry.chart = echarts.init(entry.plot, null, { renderer: "canvas" });
    if (entry.click) entry.chart.on("click", (event) => entry.click(event, entry));
    show(entry);
    entry.width = entry.plot.clientWidth;
    entry.watch = new ResizeObserver(() => {
      if (entry.plot.clientWidth === entry.width || !entry.plot.clientWidth) return;
      entry.width = entry.plot.clientWidth;
      entry.chart.resize();
      show(entry);
    });
    entry.watch.observe(entry.plot);
  }
}

function show(entry) {
  const t = theme();
  const option = entry.build(t, entry.plot.clientWidth < 420, entry.log);
  fillLegend(entry, option);
  entry.chart.setOption(dressed(t, option, entry.hidden), { notMerge: true });
  entry.plot.dataset.drawn = "yes";
}

matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => drawn.forEach((entry) => entry.chart && show(entry)));

/** The names of the series, once each, as buttons that show and hide them: outside of the plot, where they can wrap. */
function fillLegend(entry, option) {
  const colours = new Map();
  if (option.legend !== null) for (const one of option.series) if (one.name && !colours.has(one.name)) colours.set(one.name, one.itemStyle.color);
  entry.legend.replaceChildren(...[...colours].map(([name, colour]) => el("button", {
    type: "button", style: "--swatch:" + colour, "aria-pressed": String(!entry.hidden.has(name)),
    onclick: () => {
      if (!entry.hidden.delete(name)) entry.hidden.add(name);
      show(entry);
    },
  }, name)));
}

/** What all charts share. */
function dressed(t, option, hidden) {
  const text = { color: t.soft, fontSize: 12 };
  const axis = (one) => one && ({
    axisLine: { lineStyle: { color: t.line } },
    axisTick: { show: false },
    ...one,
    nameTextStyle: { ...text, ...(one.nameTextStyle || {}) },
    axisLabel: { ...text, hideOverlap: true, ...(one.axisLabel || {}) },
    splitLine: { show: one.type !== "category", lineStyle: { color: t.grid }, ...(one.splitLine || {}) },
  });
  const each = (axes, more) => Array.isArray(axes) ? axes.map((one) => axis({ ...more, ...one })) : axis(axes && { ...more, ...axes });
  return {
    animation: false,
    textStyle: { fontFamily: getComputedStyle(document.body).fontFamily },
    ...option,
    // Several grids place themselves.
    grid: Array.isArray(option.grid) ? option.grid : { left: 8, right: 16, top: 30, bottom: 8, containLabel: true, ...(option.grid || {}) },
    legend: { show: false, selected: Object.fromEntries([...hidden].map((name) => [name, false])) },
    tooltip: {
      confine: true, backgroundColor: t.paper, borderColor: t.line, borderWidth: 1, padding: [6, 10],
      textStyle: { color: t.ink, fontSize: 12 }, extraCssText: "box-shadow:0 2px 10px rgba(0,0,0,.15);max-width:340px;white-space:normal",
      axisPointer: { lineStyle: { color: t.line }, shadowStyle: { color: t.colour("shade") } },
      ...(option.tooltip || {}),
    },
    xAxis: each(option.xAxis, { nameLocation: "middle", nameGap: 28 }),
    yAxis: each(option.yAxis, { nameLocation: "end", nameTextStyle: { align: "left" } }),
  };
}

/** Tooltip text as HTML, every part escaped. Lines: [colour or null, label, value]. */
function tip(head, lines) {
  const safe = echarts.format.encodeHTML;
  const rows = lines.map(([colour, label, value]) =>
    `<tr><td style="padding:0 8px 0 0;text-align:left;white-space:normal;border:0">${colour ? `<span style="display:inline-block;width:9px;height:9px;border-radius:2px;margin-right:6px;background:${safe(colour)}"></span>` : ""}${safe(label)}</td><td style="padding:0;text-align:right;border:0">${safe(value)}</td></tr>`);
  return `<b>${safe(head)}</b><table style="min-width:0;font-size:12px">${rows.join("")}</table>`;
}

/** Vertical bars of a confidence interval: points [x, low, high]; `band` shifts them beside each other in a category. */
function whiskers(name, points, colour) {
  return {
    name, type: "custom", silent: true, z: 4, data: points, encode: { x: 0, y: [1, 2] }, tooltip: { show: false },
    itemStyle: { color: colour },
    renderItem: (_, api) => {
      const low = api.coord([api.value(0), api.value(1)]);
      const high = api.coord([api.value(0), api.value(2)]);
      const style = { stroke: colour, lineWidth: 1.5, fill: null };
      const line = (x1, y1, x2, y2) => ({ type: "line", shape: { x1, y1, x2, y2 }, style });
      return { type: "group", children: [line(low[0], low[1], high[0], high[1]), line(low[0] - 4, low[1], low[0] + 4, low[1]), line(high[0] - 4, high[1], high[0] + 4, high[1])] };
    },
  };
}
