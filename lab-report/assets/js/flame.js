// Flame graphs from folded stacks: root below (who calls), or merged from the leaf (who called it). A click on a frame
// makes it the whole width; a click on the lowest shows all again.

/** A tree of frames: {name, count, children: Map}. */
function flameTree(folded, inverted) {
  const root = { name: "all", count: 0, children: new Map() };
  for (const [stack, count] of folded) {
    const frames = stack.split(";");
    if (inverted) frames.reverse();
    let node = root;
    node.count += count;
    for (const name of frames) {
      let child = node.children.get(name);
      if (!child) node.children.set(name, (child = { name, count: 0, children: new Map() }));
      child.count += count;
      node = child;
    }
  }
  return root;
}

/** Rectangles of a tree: [from, to, depth], those too thin to see left out. Deep recursion is not used: stacks are deep. */
function flameBoxes(root) {
  const boxes = [];
  const open = [{ node: root, from: 0, depth: 0 }];
  while (open.length) {
    const { node, from, depth } = open.pop();
    boxes.push({ value: [from, from + node.count, depth], node });
    let at = from;
    for (const child of [...node.children.values()].sort((a, b) => a.name < b.name ? -1 : 1)) {
      if (child.count / root.count >= 0.0008) open.push({ node: child, from: at, depth: depth + 1 });
      at += child.count;
    }
  }
  return boxes;
}

/** What a frame belongs to, by its crate or name; the same hues as the waits have. */
const FRAME_CLASSES = [
  [/spin|back_?off/i, "lock"], [/log_manager|WRITELOG|LOGBUFFER/, "log-write"], [/buffer_pool|storage|PAGE.*LATCH|mvcc/, "latch"],
  [/interpreter|executor|binder|planner|syntax|session/, "data-io"], [/device|io_uring|pwrite|fdatasync/, "client"],
  [/scheduler|runtime|corosensei/, "cpu"],
];

function frameColour(t, name) {
  const found = FRAME_CLASSES.find(([pattern]) => pattern.test(name));
  const base = found ? t.colour("wait-" + found[1]) : t.colour("wait-other");
  let hash = 0;
  for (const c of name) hash = (hash * 31 + c.charCodeAt(0)) >>> 0;
  return mixed(base, t.paper, 0.42 + (hash % 5) * 0.05);
}

function flameFigure(name, title, note, folded, inverted, unit) {
  if (!folded || !folded.length) return null;
  const whole = flameTree(folded, inverted);
  let root = whole;
  const build = (t) => {
    const boxes = flameBoxes(root);
    const depth = Math.max(...boxes.map((box) => box.value[2])) + 1;
    return {
      legend: null, grid: { left: 0, right: 0, top: 0, bottom: 0, containLabel: false },
      xAxis: { type: "value", min: 0, max: root.count, show: false },
      yAxis: { type: "value", min: 0, max: Math.max(depth, 4), show: false, inverse: inverted },
      tooltip: { formatter: (item) => tip(item.data.node.name, [[null, unit, grouped(item.data.node.count)], [null, "of all", percent(item.data.node.count / whole.count)]]) },
      series: [{
        type: "custom", data: boxes, encode: { x: [0, 1], y: 2 },
        renderItem: (params, api) => {
          const [x, y] = api.coord([api.value(0), api.value(2)]);
          const [width, height] = api.size([api.value(1) - api.value(0), 1]);
          const node = boxes[params.dataIndex].node;
          return {
            type: "rect", shape: { x, y: inverted ? y : y - height, width: Math.max(width - 0.6, 0.4), height: Math.max(height - 1, 1) },
            style: { fill: frameColour(t, node.name) },
            textContent: width > 34 ? { style: { text: shortFrame(node.name), fill: t.ink, fontSize: 11, width: width - 8, overflow: "truncate" } } : undefined,
            textConfig: { position: "insideLeft", distance: 4 },
          };
        },
      }],
    };
  };
  const depth = Math.max(...flameBoxes(whole).map((box) => box.value[2])) + 1;
  return figure(name, title, note, build, {
    wide: true, height: Math.min(Math.max(depth, 4), 48) * 18,
    click: (event, entry) => {
      const node = event.data && event.data.node;
      if (!node) return;
      root = node === root ? whole : node;
      show(entry);
    },
  });
}

/** The last parts of a path, without generics: what fits into a box. */
function shortFrame(name) {
  const plain = name.replace(/<[^<>]*>/g, "");
  return plain.split("::").slice(-2).join("::") || name;
}

function profilePart(cell) {
  const profile = cell.profile;
  if (!profile) return null;
  const figures = [
    flameFigure("flame", "CPU samples", `${profile.method}; ${plural(profile.samples, "sample")}${profile.lost ? ", " + grouped(profile.lost) + " lost" : ""}. Root at the bottom; click a frame to enlarge it, the lowest to go back.`, profile.folded, false, "samples"),
    flameFigure("inverted", "The same, merged from the leaf", "At the top: where the CPU was. Below each: who called it.", profile.folded, true, "samples"),
    flameFigure("off-cpu", "Time off the CPU", "From the engine's own wait accounting, in microseconds.", profile.off_cpu, false, "µs"),
  ].filter(Boolean);
  const shares = (rows, caption, name) => (rows || []).length ? table([
    { head: caption, kind: "long", value: (row) => row.name },
    { head: "itself", value: (row) => row.itself, text: (row) => percent(row.itself) },
    { head: "with callees", value: (row) => row.total, text: (row) => percent(row.total) },
  ], rows, { name, sort: [1, "down"] }) : null;
  return [
    el("h3", null, "Profile"), figures.length ? el("div.plots", null, figures) : null,
    profile.flame_svg || profile.inverted_svg ? el("div.row", null,
      profile.flame_svg ? saveButton("Save flame.svg", "flame.svg", "image/svg+xml", () => profile.flame_svg) : null,
      profile.inverted_svg ? saveButton("Save inverted.svg", "inverted.svg", "image/svg+xml", () => profile.inverted_svg) : null) : null,
    shares(profile.spinlocks, "spinlock, share of samples", "profile-spinlocks"),
    (profile.functions || []).length ? el("details", null, el("summary", null, "Functions, by share of samples"), shares(profile.functions, "function", "functions")) : null,
  ];
}
