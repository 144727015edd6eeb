// What the chart of ranks computes: answers as the server packs them, rows and their heights, what lies under a pointer.

/** Whether a category communicates; as in parsers/analysis/jobs/rank_operators/operators.py. */
export const CATEGORIES = [
  "ai_core", "vector_core", "other", "matrix", "copy", "collective", "send", "receive", "send_receive",
];
export const LEVELS = 8;
const COMPUTING = 5;
/**
 * Colours of the categories by theme: cool hues compute, warm ones communicate. Red is left out: it means wrong.
 * Products of a GPU have the colour of the cores of Ascend that compute them.
 */
const COLOURS = {
  light: ["#3a6fc4", "#2a9d8f", "#7d8894", "#3a6fc4", "#57a9c9", "#e08a1e", "#a35cc2", "#c2508f", "#7d5fd0"],
  dark: ["#6c9be8", "#4dbdae", "#98a2ad", "#6c9be8", "#7cc4df", "#eda23f", "#c083dc", "#e07cb3", "#a18af0"],
};
const ARRAYS = { f4: Float32Array, u4: Uint32Array, u2: Uint16Array, u1: Uint8Array };
const TOP = 24;
const LEAST_PITCH = 14;
const MOST_PITCH = 76;
const USUAL_HEIGHT = 560;
const STAGE_GAP = 12;
const LEAST_NS = 20;

/**
 * @param {number} category
 * @param {"light" | "dark"} theme
 */
export const colourOf = (category, theme) => COLOURS[theme][category];

/**
 * A view as parsers/analysis/jobs/rank_operators/views.py packs it: its numbers, and bars, cells and joins as typed arrays.
 * @param {ArrayBuffer} buffer
 */
export function unpacked(buffer) {
  const size = new DataView(buffer).getUint32(0, true);
  const { tables, ...header } = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, size)));
  let at = 4 + size;
  /** @type {[string, { length: number, columns: [string, keyof typeof ARRAYS][] }][]} */
  const entries = Object.entries(tables);
  for (const [name, { length, columns }] of entries) {
    header[name] = { length };
    for (const [column, kind] of columns) {
      const values = new ARRAYS[kind](buffer, at, length);
      header[name][column] = values;
      at += Math.ceil(values.byteLength / 4) * 4;
    }
  }
  return header;
}

/**
 * Where rows are: top, bottom and the split of the two lanes of each; stages are apart. under: whether below is drawn, too.
 * @param {number[]} stages
 * @param {number} [height]
 * @param {boolean} [under]
 */
export function rowsOf(stages, height = USUAL_HEIGHT, under = false) {
  const count = stages.length;
  const pitch = Math.max(LEAST_PITCH, Math.min(MOST_PITCH, Math.floor(height / Math.max(1, count))));
  const computing = Math.max(4, Math.round(pitch * 0.24));
  const communication = Math.max(3, Math.round(pitch * 0.15));
  let y = TOP + Math.ceil((computing + communication) / 2) + 8;
  const rows = stages.map((stage, at) => {
    if (at) y += pitch + (stage === stages[at - 1] ? 0 : STAGE_GAP);
    const top = Math.round(y - (computing + communication) / 2);
    return { stage, top, split: top + computing, bottom: top + computing + communication };
  });
  const room = pitch - computing - communication;
  const end = count ? rows[count - 1].bottom : TOP - 10;
  return { rows, pitch, room, top: TOP, height: end + (under && count ? room : 10) };
}

/**
 * The row whose lanes are nearest to y; -1 for none.
 * @param {Pick<Ranks.Grid, "rows" | "pitch">} grid
 * @param {number} y
 */
export function rowAt({ rows, pitch }, y) {
  let best = -1;
  let least = pitch / 2 + 1;
  rows.forEach(({ top, bottom }, at) => {
    const far = y < top ? top - y : y > bottom ? y - bottom : 0;
    if (far < least) [best, least] = [at, far];
  });
  return best;
}

/**
 * What is drawn at a column of a row, in any lane if lane is null: { bar } or { cell }, a place in the arrays; null for none.
 * @param {Ranks.View} view
 * @param {number} row
 * @param {number | null} lane
 * @param {number} column
 * @param {number} [within]
 */
export function hit(view, row, lane, column, within = 1) {
  /** @type {Ranks.Hit | null} */
  let found = null;
  let narrowest = Infinity;
  const { bars, cells } = view;
  for (let i = 0; i < bars.length; i += 1) {
    if (bars.row[i] !== row || (lane !== null && bars.lane[i] !== lane)) continue;
    if (column < bars.x0[i] - within || column > bars.x1[i] + within) continue;
    const width = bars.x1[i] - bars.x0[i];
    if (width < narrowest) [found, narrowest] = [{ bar: i }, width];
  }
  if (found) return found;
  for (let i = 0; i < cells.length; i += 1) {
    if (cells.row[i] !== row || (lane !== null && cells.lane[i] !== lane)) continue;
    if (column >= cells.x0[i] && column < cells.x1[i]) return { cell: i };
  }
  return null;
}

/**
 * A window of time within what is shown, [0, length].
 * @param {Ranks.Span} range
 * @param {number} length
 */
export function within({ from, to }, length) {
  const whole = Math.max(length, LEAST_NS);
  const span = Math.min(Math.max(to - from, LEAST_NS), whole);
  const start = Math.min(Math.max((from + to - span) / 2, 0), whole - span);
  return { from: Math.round(start), to: Math.round(start + span) };
}

/**
 * The window with `factor` of its length about a time.
 * @param {Ranks.Span} range
 * @param {number} factor
 * @param {number} at
 * @param {number} length
 */
export function zoomed({ from, to }, factor, at, length) {
  return within({ from: at - (at - from) * factor, to: at + (to - at) * factor }, length);
}

/**
 * "from,to" as the state has it; null for anything else.
 * @param {string} text
 */
export function parseWindow(text) {
  const found = /^(\d{1,18}),(\d{1,18})$/.exec(text || "");
  return found && Number(found[1]) < Number(found[2]) ? { from: Number(found[1]), to: Number(found[2]) } : null;
}

/**
 * "rank,operator" as the state has it; null for anything else.
 * @param {string} text
 */
export function parsePick(text) {
  const found = /^(\d{1,7}),(\d{1,9})$/.exec(text || "");
  return found ? { rank: Number(found[1]), operator: Number(found[2]) } : null;
}

/**
 * Ranks as text: 0-3, 8.
 * @param {number[]} ranks
 */
export function rankText(ranks) {
  const parts = [];
  for (let i = 0; i < ranks.length;) {
    let j = i;
    while (j + 1 < ranks.length && ranks[j + 1] === ranks[j] + 1) j += 1;
    parts.push(i === j ? String(ranks[i]) : `${ranks[i]}–${ranks[j]}`);
    i = j + 1;
  }
  return parts.join(", ");
}

/**
 * How far the begins and ends of an operator are apart on several ranks, and how long it takes.
 * @param {Ranks.Same[]} same
 */
export function spreadOf(same) {
  const begins = same.map((one) => one.begin);
  const ends = same.map((one) => one.begin + one.duration);
  const durations = same.map((one) => one.duration);
  return {
    low: Math.min(...durations), high: Math.max(...durations), begins: Math.max(...begins) - Math.min(...begins),
    ends: Math.max(...ends) - Math.min(...ends),
  };
}

/** @param {number} category */
export const communicates = (category) => category >= COMPUTING;
