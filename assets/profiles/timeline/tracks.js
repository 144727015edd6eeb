// Tracks as rows: a tree of processes and threads that can be folded, hidden, reordered, pinned and filtered.

/** @type {Record<Timeline.Height, number>} */
export const HEIGHTS = { small: 9, medium: 18, large: 28 };
const HEAD = 24;
const PART = 26;
const GAP = 5;
const CURVE = 40;
/** What a row that is no track has. */
const PLAIN = { pinned: false, y: 0, lane: 0, lanes: 0 };
/** Lanes of a track that is folded. */
const FOLDED = 1;

/** Traces from which on the processes of hosts are folded at first. */
const MANY = 2;
const HOST = new Set(["scope", "python", "cann", "host", "host_queue", "counter", "memory"]);

/**
 * Ids of traces but the first begin with their number, so that those of the others stay when one is added.
 * @param {number} part
 */
const within = (part) => (part ? `${part}.` : "");
/**
 * @param {number} index
 * @param {number} [part]
 */
export const trackId = (index, part = 0) => `${within(part)}t${index}`;
/**
 * @param {number} index
 * @param {number} [part]
 */
export const processId = (index, part = 0) => `${within(part)}p${index}`;
/** @param {number} part */
export const partId = (part) => `part${part}`;

/**
 * Ids of the tracks by their number; parts are the traces, [{ track: number of its first track }, ...].
 * @param {Timeline.SentTrack[]} tracks
 * @param {Timeline.Part[]} parts
 */
export const idsOf = (tracks, parts) =>
  tracks.map(({ part = 0 }, index) => trackId(index - (part ? parts[part].track : 0), part));

/**
 * Processes with their tracks: { id, name, part, tracks: [{ id, index, ...track }], counters, host }; index is the number of a
 * track among those of all traces.
 * @param {Timeline.SentTrack[]} tracks
 * @param {Timeline.Part[]} [parts]
 */
export function treeOf(tracks, parts = []) {
  /** @type {Map<string, Timeline.Process>} */
  const processes = new Map();
  const ids = idsOf(tracks, parts);
  tracks.forEach((track, index) => {
    const { part = 0 } = track;
    const key = JSON.stringify([part, track.order[0], track.process, track.process_id]);
    let process = processes.get(key);
    if (!process) {
      const id = processId(index - (part ? parts[part].track : 0), part);
      process = { id, name: track.process, part, tracks: [], order: track.order[0], counters: false, host: false };
      processes.set(key, process);
    }
    process.tracks.push({ ...track, id: ids[index], index });
  });
  const found = [...processes.values()];
  for (const one of found) {
    one.tracks.sort((a, b) => a.order[1] - b.order[1] || a.index - b.index);
    one.counters = one.tracks.every(isCurve);
    one.host = one.tracks.every((/** @type {Timeline.Track} */ track) => HOST.has(track.kind));
  }
  return found.sort((a, b) => a.part - b.part || a.order - b.order);
}

/** @param {Timeline.SentTrack} track */
export const isCurve = (track) => !track.lanes && Boolean(track.series);

/**
 * Siblings in the order in which `order` (a list of ids) names them; those it does not name stay where they are.
 * @template {{ id: string }} Named
 * @param {Named[]} siblings
 * @param {string[]} order
 */
export function ordered(siblings, order) {
  const place = new Map(order.map((id, at) => [id, at]));
  /** @param {Named} one */
  const at = (one) => place.get(one.id) ?? 0;
  const named = siblings.filter((one) => place.has(one.id)).sort((a, b) => at(a) - at(b));
  let next = 0;
  return siblings.map((one) => (place.has(one.id) ? named[next++] : one));
}

/**
 * The order after `id` was moved by one place among its siblings; entries for other siblings are kept.
 * @param {{ id: string }[]} siblings
 * @param {string[]} order
 * @param {string} id
 * @param {number} by
 */
export function movedIn(siblings, order, id, by) {
  const ids = ordered(siblings, order).map((one) => one.id);
  const from = ids.indexOf(id);
  const to = from + by;
  if (from < 0 || to < 0 || to >= ids.length) return order;
  ids.splice(to, 0, ids.splice(from, 1)[0]);
  const own = new Set(ids);
  return [...order.filter((one) => !own.has(one)), ...ids];
}

/**
 * Whether a text, several words that must all occur, is in the name of a track or its process.
 * @param {Timeline.SentTrack} track
 * @param {string} filter
 */
export function fits(track, filter) {
  const name = `${track.where || ""} ${track.process} ${track.thread} ${track.process_id} ${track.thread_id}`.toLowerCase();
  return filter.toLowerCase().split(/\s+/).every((word) => name.includes(word));
}

/**
 * A track is folded if it is in `folded`, or by default, which being in `opened` undoes.
 * @param {string} id
 * @param {boolean} standard
 * @param {Timeline.Look} look
 */
const isFolded = (id, standard, { folded, opened }) => folded.has(id) || (standard && !opened.has(id));

/**
 * @param {Timeline.Track} track
 * @param {Timeline.Look} state
 * @param {boolean} pinned
 * @returns {Timeline.TrackRow}
 */
function trackRow(track, state, pinned) {
  const lane = HEIGHTS[state.heights.get(track.id) || state.height];
  const curve = isCurve(track);
  const folded = !curve && isFolded(track.id, false, state);
  const lanes = curve ? 0 : folded ? Math.min(FOLDED, track.lanes) : track.lanes;
  const height = curve ? CURVE : Math.max(lanes * lane, HEIGHTS.medium) + GAP;
  return { kind: "track", id: track.id, track, pinned, lane, lanes, folded, curve, height, y: 0 };
}

/**
 * The rows to draw, pinned ones and the others, each with y and height from the top of its part. state has sets of ids (folded,
 * opened, hidden), lists (pinned, order), filter, height (a key of HEIGHTS) and heights (id to key).
 * @param {Timeline.Process[]} tree
 * @param {Timeline.Look} state
 * @returns {Timeline.Layout}
 */
export function rowsOf(tree, state) {
  const every = tree.flatMap((process) => process.tracks);
  const byId = new Map(every.map((track) => [track.id, track]));
  /** @param {Timeline.Track} track */
  const shown = (track) => !state.hidden.has(track.id) && (!state.filter || fits(track, state.filter));
  const pinned = state.pinned.flatMap((id) => byId.get(id) || []).map((track) => trackRow(track, state, true));
  /** @type {Timeline.Row[]} */
  const rows = [];
  const known = new Set(state.pinned);
  const parts = [...new Set(tree.map((process) => process.part))];
  for (const part of parts) {
    const id = partId(part);
    /** @type {Timeline.PartRow} */
    const head = { kind: "part", id, part, folded: state.folded.has(id), height: PART, ...PLAIN };
    /** @type {Timeline.Row[]} */
    const own = [];
    for (const process of ordered(tree.filter((one) => one.part === part), state.order)) {
      if (state.hidden.has(process.id)) continue;
      const tracks = ordered(process.tracks, state.order).filter((track) => shown(track) && !known.has(track.id));
      if (!tracks.length) continue;
      const standard = process.counters || (process.host && parts.length >= MANY);
      const folded = !state.filter && isFolded(process.id, standard, state);
      own.push({ kind: "process", id: process.id, process, folded, height: HEAD, ...PLAIN });
      if (!folded) own.push(...tracks.map((track) => trackRow(track, state, false)));
    }
    if (parts.length > 1 && own.length) rows.push(head);
    if (!(head.folded && parts.length > 1)) rows.push(...own);
  }
  const hidden = every.filter((track) => state.hidden.has(track.id)).length
    + tree.filter((process) => state.hidden.has(process.id)).flatMap((one) => one.tracks).length;
  return { pinned: stacked(pinned), rows: stacked(rows), hidden };
}

/** @param {Timeline.Row[]} rows */
function stacked(rows) {
  let y = 0;
  for (const row of rows) {
    row.y = y;
    y += row.height;
  }
  return { rows, height: y };
}

/**
 * Numbers of the tracks that ids of tracks and processes stand for; [] for none, which means all.
 * @param {Timeline.Process[]} tree
 * @param {string[]} ids
 */
export function searchedTracks(tree, ids) {
  const wanted = new Set(ids);
  return tree.flatMap((process) => process.tracks.filter((track) => wanted.has(process.id) || wanted.has(track.id)))
    .map((track) => track.index).sort((a, b) => a - b);
}

/**
 * The rows that are seen at least in part from y to below y + height.
 * @param {Timeline.Stack} stack
 * @param {number} y
 * @param {number} height
 */
export function rowsWithin({ rows }, y, height) {
  let low = 0;
  let high = rows.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (rows[middle].y + rows[middle].height <= y) low = middle + 1;
    else high = middle;
  }
  const found = [];
  for (let i = low; i < rows.length && rows[i].y < y + height; i += 1) found.push(rows[i]);
  return found;
}

/**
 * The number of the lane at a height within a row; -1 between lanes and where there is none.
 * @param {Timeline.Row} row
 * @param {number} y
 */
export function laneAt(row, y) {
  if (row.kind !== "track" || row.curve) return -1;
  const depth = Math.floor(y / row.lane);
  return depth >= 0 && depth < row.lanes ? row.track.first_lane + depth : -1;
}

/**
 * The lanes of rows between two heights on screen, rising and each once. A track may have more lanes than fit on any screen.
 * @param {Timeline.Placed[]} rows
 * @param {number} from
 * @param {number} to
 */
export function lanesOf(rows, from, to) {
  /** @type {Set<number>} */
  const lanes = new Set();
  for (const [row, top] of rows) {
    if (row.kind !== "track" || !row.lanes) continue;
    const end = Math.min(row.lanes, Math.ceil((to - top) / row.lane));
    for (let depth = Math.max(0, Math.floor((from - top) / row.lane)); depth < end; depth += 1) {
      lanes.add(row.track.first_lane + depth);
    }
  }
  return [...lanes].sort((a, b) => a - b);
}
