// What the pipeline chart computes: its answer from the server, heights of bands in a column, windows, ticks, times as text.
// Nothing here touches the page. Counterpart of `view` in parsers/analysis/jobs/job_pipeline.py.

const MAGIC = "MSPL";
const FULL = 255;
const LEAST_NS = 1000;

/**
 * Read an answer: { begin, end, length, columns, rows, total, bands, shares }, shares by band as bytes, row by row.
 * @param {ArrayBuffer} buffer
 */
export function unpacked(buffer) {
  const bytes = new Uint8Array(buffer);
  if (String.fromCharCode(...bytes.subarray(0, 4)) !== MAGIC) throw new Error("not an answer of the pipeline route");
  const size = new DataView(buffer).getUint32(4, true);
  const header = JSON.parse(new TextDecoder().decode(bytes.subarray(8, 8 + size)));
  const cells = header.rows.length * header.columns;
  const shares = new Map(header.bands.map((name, at) => {
    const from = 8 + size + at * cells;
    return [name, bytes.subarray(from, from + cells)];
  }));
  return { ...header, shares };
}

/**
 * How many of `height` pixels each band of a column takes, by its share of 255. Each that takes any time has at least one, at
 * the cost of the largest.
 * @param {number[]} shares
 * @param {number} height
 */
export function heightsOf(shares, height) {
  const whole = shares.reduce((sum, share) => sum + share, 0);
  if (!whole) return shares.map(() => 0);
  const found = shares.map((share) => (share ? Math.max(1, Math.round((share / Math.max(whole, FULL)) * height)) : 0));
  let spare = Math.round((Math.min(whole, FULL) / FULL) * height) - found.reduce((sum, one) => sum + one, 0);
  while (spare) {
    const largest = found.indexOf(Math.max(...found));
    const step = spare > 0 ? spare : Math.max(spare, 1 - found[largest]);
    if (!step) break;
    found[largest] += step;
    spare -= step;
  }
  return found;
}

/** The bands of a column of a row, [[name, share from 0 to 1], ...], the largest first; hidden communication comes last. */
export function sharesAt(view, row, column) {
  const at = row * view.columns + column;
  const found = view.bands.map((name) => [name, view.shares.get(name)[at] / FULL]).filter(([, share]) => share > 0);
  const last = ([name]) => Number(name === "hidden");
  return found.sort((a, b) => last(a) - last(b) || b[1] - a[1]);
}

/** A window zoomed by a factor about a time, within the step; null for all of it. */
export function zoomed({ begin, end }, length, at, factor) {
  const wide = Math.min(Math.max((end - begin) / factor, LEAST_NS), length);
  if (wide >= length) return null;
  const share = end > begin ? (at - begin) / (end - begin) : 0.5;
  const from = Math.min(Math.max(at - share * wide, 0), length - wide);
  return { begin: Math.round(from), end: Math.round(from + wide) };
}

/** A window moved by a time, within the step. */
export function moved({ begin, end }, length, by) {
  const step = Math.round(Math.min(Math.max(by, -begin), length - end));
  return { begin: begin + step, end: end + step };
}

/** Times for an axis from begin to end: at most `most` round ones. */
export function ticksOf(begin, end, most) {
  const wide = Math.max(end - begin, 1);
  const rough = wide / Math.max(most, 1);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((one) => one * power).find((one) => one >= rough) || 10 * power;
  const found = [];
  for (let at = Math.ceil(begin / step) * step; at <= end; at += step) found.push(at);
  return found;
}

/** A time of `ns` as ms, with digits that tell apart what is `step` ns apart. */
export function atText(ns, step) {
  const digits = Math.min(Math.max(Math.ceil(6 - Math.log10(Math.max(step, 1))), 0), 6);
  return `${(ns / 1e6).toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits })} ms`;
}

/** Height of a row and gap below it, in px, by how many rows there are. */
export function rowHeight(count) {
  if (count <= 8) return { high: 34, gap: 6 };
  if (count <= 16) return { high: 24, gap: 4 };
  return count <= 40 ? { high: 16, gap: 3 } : { high: 12, gap: 2 };
}

/** Which stages an address names after one was folded or unfolded; open are those unfolded now. */
export function foldedOf(open, stage) {
  const next = open.includes(stage) ? open.filter((one) => one !== stage) : [...open, stage].sort((a, b) => a - b);
  return next.length ? next.map(String) : ["none"];
}
