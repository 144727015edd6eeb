// What heat maps compute: colours and scales, cells joined to pixels, ticks, and matrices as the server packs them.

// viridis; on dark cards without its darkest part, which could not be told from them.
const VIRIDIS = {
  light: ["440154", "472d7b", "3b528b", "2c728e", "21918c", "28ae80", "5ec962", "addc30", "fde725"],
  dark: ["4a4a94", "3e5f96", "31789a", "2b9294", "32ab84", "5ec962", "8fd744", "c2df23", "fde725"],
};
const DIVERGING = {
  light: ["2166ac", "67a9cf", "d1e5f0", "f7f7f7", "fddbc7", "ef8a62", "b2182b"],
  dark: ["6fb1e8", "4c8dc4", "3f6684", "3d4249", "87583f", "c9713f", "f08a5d"],
};
const LEAST_SPREAD = 0.1;
const LOG_FROM = 50;

const rgb = (hex) => [0, 2, 4].map((at) => parseInt(hex.slice(at, at + 2), 16));
const stops = new Map();

function stopsOf(kind, theme) {
  const key = `${kind} ${theme}`;
  if (!stops.has(key)) stops.set(key, (kind === "diverging" ? DIVERGING : VIRIDIS)[theme].map(rgb));
  return stops.get(key);
}

/** The colour [r, g, b] at a share (0 to 1) of a scale: viridis, or about zero blue, neutral, red (orange on dark). */
export function colourAt(share, kind = "sequential", theme = "light") {
  const list = stopsOf(kind, theme);
  const at = Math.min(Math.max(share, 0), 1) * (list.length - 1);
  const place = Math.min(Math.floor(at), list.length - 2);
  return list[place].map((from, part) => Math.round(from + (list[place + 1][part] - from) * (at - place)));
}

/** Whether dark text is legible on a colour, and light text is not (relative luminance, WCAG). */
export function isBright(colour) {
  const [r, g, b] = colour.map((part) => {
    const share = part / 255;
    return share <= 0.03928 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.179;
}

/**
 * The scale of values: from the lowest to the highest, logarithmic where they differ by more than a factor of 50. Values that
 * hardly differ get a scale of at least 10 % of the highest, so that noise does not look like a difference.
 * @param {ArrayLike<number>} values NaN for none
 */
export function scaleOf(values, kind = "sequential") {
  let [low, high, least] = [Infinity, -Infinity, Infinity];
  for (let i = 0; i < values.length; i += 1) {
    const value = values[i];
    if (!Number.isFinite(value)) continue;
    if (value < low) low = value;
    if (value > high) high = value;
    if (value > 0 && value < least) least = value;
  }
  if (low > high) return { kind, low: 0, high: 1, log: false, empty: true };
  if (kind === "diverging") {
    const most = Math.max(Math.abs(low), Math.abs(high)) || 1;
    return { kind, low: -most, high: most, log: false, empty: false };
  }
  if (low > 0 && high / least > LOG_FROM) return { kind, low: least, high, log: true, empty: false };
  const spread = LEAST_SPREAD * Math.max(Math.abs(low), Math.abs(high));
  if (high - low < spread) low = low >= 0 ? Math.max(0, high - spread) : high - spread;
  if (high === low) high = low + 1;
  return { kind, low, high, log: false, empty: false };
}

/** Where a value is on a scale, 0 to 1. */
export function shareOf(value, { low, high, log }) {
  if (log) return value > 0 ? Math.log(value / low) / Math.log(high / low) : 0;
  return (value - low) / (high - low);
}

/** The value at a share of a scale. */
export function valueAt(share, { low, high, log }) {
  return log ? low * (high / low) ** share : low + share * (high - low);
}

/**
 * Cells of a window in at most `height` x `width` pixels. A pixel of several cells shows the extreme one: the lowest where keep
 * is "min", else the highest, so that nothing unusual disappears.
 * @param {{ rows: number, columns: number, values: ArrayLike<number> }} content
 * @param {{ top: number, bottom: number, left: number, right: number }} part in cells; bottom and right are the first outside
 */
export function pixelsOf({ columns, values }, { top, bottom, left, right }, width, height, keep = "max") {
  const [across, down] = [right - left, bottom - top];
  const [wide, high] = [Math.max(1, Math.min(across, Math.floor(width))), Math.max(1, Math.min(down, Math.floor(height)))];
  const found = new Float32Array(wide * high).fill(NaN);
  const lowest = keep === "min";
  for (let row = 0; row < down; row += 1) {
    const y = high === down ? row : Math.floor((row * high) / down);
    const from = (top + row) * columns + left;
    for (let column = 0; column < across; column += 1) {
      const value = values[from + column];
      if (Number.isNaN(value)) continue;
      const at = y * wide + (wide === across ? column : Math.floor((column * wide) / across));
      const known = found[at];
      if (Number.isNaN(known) || (lowest ? value < known : value > known)) found[at] = value;
    }
  }
  return { width: wide, height: high, values: found };
}

/** The pixels of values in the colours of a scale, as r, g, b, alpha; those without a value are `none` ([r, g, b]). */
export function paint(values, scale, theme, none) {
  const table = Array.from({ length: 256 }, (_, level) => colourAt(level / 255, scale.kind, theme));
  const found = new Uint8ClampedArray(4 * values.length);
  for (let i = 0; i < values.length; i += 1) {
    const value = values[i];
    const level = Math.round(255 * Math.min(Math.max(shareOf(value, scale), 0), 1));
    const colour = Number.isNaN(value) ? none : table[level];
    found[4 * i] = colour[0];
    found[4 * i + 1] = colour[1];
    found[4 * i + 2] = colour[2];
    found[4 * i + 3] = 255;
  }
  return found;
}

/** The number of cells from one axis label to the next: a power of two that keeps labels at least `room` pixels apart. */
export function stride(cells, pixels, room) {
  let every = 1;
  while ((pixels / cells) * every < room && every < cells) every *= 2;
  return every;
}

/** A window zoomed about a cell by a factor (2: half as many cells), within the map; at least `least` cells. */
export function zoomed({ top, bottom, left, right }, { rows, columns }, cell, factor, least = 4) {
  const along = (from, to, whole, at) => {
    const length = Math.min(whole, Math.max(Math.min(least, whole), Math.round((to - from) / factor)));
    const begin = Math.round(at - ((at - from) / Math.max(to - from, 1)) * length);
    const first = Math.min(Math.max(begin, 0), whole - length);
    return [first, first + length];
  };
  const [above, below] = along(top, bottom, rows, cell.row);
  const [before, after] = along(left, right, columns, cell.column);
  return { top: above, bottom: below, left: before, right: after };
}

/** The window moved so that it has a cell. */
export function holding({ top, bottom, left, right }, cell) {
  const shift = (from, to, at) => (at < from ? at - from : at >= to ? at - to + 1 : 0);
  const [down, across] = [shift(top, bottom, cell.row), shift(left, right, cell.column)];
  return { top: top + down, bottom: bottom + down, left: left + across, right: right + across };
}

/**
 * A matrix as parsers/analysis/jobs/matrix.py packs it: its header, the ranks on the axis (-1 for unknown ones), and all
 * values row by row, NaN for none.
 * @param {ArrayBuffer} buffer
 */
export function unpacked(buffer) {
  const view = new DataView(buffer);
  const length = view.getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
  const ranks = new Int32Array(buffer, 4 + length, header.ranks);
  const start = 4 + length + 4 * header.ranks;
  const total = header.rows * header.rows;
  const values = new Float32Array(total).fill(NaN);
  if (header.form === "sparse") {
    for (let i = 0, at = start; i < header.cells; i += 1, at += 8) {
      values[view.getUint16(at, true) * header.rows + view.getUint16(at + 2, true)] = view.getFloat32(at + 4, true);
    }
  } else {
    const planes = new Uint8Array(buffer, start);
    const bits = new Uint32Array(values.buffer);
    for (let i = 0; i < total; i += 1) bits[i] = (planes[i] << 24) | (planes[total + i] << 16) | (planes[2 * total + i] << 8);
  }
  return { ...header, ranks, values };
}
