// Numbers as text. A missing figure is a dash, never a zero.

const DASH = "–";

/** 1,234,567; fractions only below 100, and no more than three digits that mean something. */
function grouped(value) {
  if (value === null || value === undefined || !Number.isFinite(value)) return DASH;
  const size = Math.abs(value);
  const digits = Number.isInteger(value) || size >= 100 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3;
  return value.toLocaleString("en-GB", { maximumFractionDigits: digits });
}

/** 1.2 M, for axes. */
function short(value) {
  if (value === null || value === undefined || !Number.isFinite(value)) return DASH;
  const size = Math.abs(value);
  for (const [limit, unit] of [[1e9, " G"], [1e6, " M"], [1e3, " k"]]) {
    if (size >= limit) return trimmed(value / limit) + unit;
  }
  return trimmed(value);
}

function trimmed(value) {
  return String(Number(value.toPrecision(3)));
}

/** Microseconds as whatever unit reads best: 163 µs, 4.2 ms, 1.3 s. */
function duration(us) {
  if (us === null || us === undefined || !Number.isFinite(us)) return DASH;
  if (us >= 1e6) return trimmed(us / 1e6) + " s";
  if (us >= 1e3) return trimmed(us / 1e3) + " ms";
  return trimmed(us) + " µs";
}

function bytes(count) {
  if (count === null || count === undefined || !Number.isFinite(count)) return DASH;
  for (const [limit, unit] of [[2 ** 40, "TiB"], [2 ** 30, "GiB"], [2 ** 20, "MiB"], [2 ** 10, "KiB"]]) {
    if (count >= limit) return trimmed(count / limit) + " " + unit;
  }
  return count + " bytes";
}

function percent(share) {
  if (share === null || share === undefined || !Number.isFinite(share)) return DASH;
  return (share * 100).toFixed(share < 0.0995 ? 2 : 1) + "%";
}

function plural(count, noun) {
  return grouped(count) + " " + noun + (count === 1 ? "" : "s");
}
