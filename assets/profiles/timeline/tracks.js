// Tracks as rows: a tree of processes and threads that can be folded, hidden, reordered, pinned and filtered.

export const HEIGHTS = { small: 9, medium: 18, large: 28 };
const HEAD = 24;
const PART = 26;
const GAP = 5;
const CURVE = 40;
/** Lanes of a track that is folded. */
const FOLDED = 1;

/** Traces from which on the processes of hosts are folded at first. */
const MANY = 2;
const HOST = new Set(["scope", "python", "cann", "host", "host_queue", "counter", "memory"]);

// Ids of traces but the first begin with their number, so that those of the others stay when one is added.
const within = (part) => (part ? `${part}.` : "");
export const trackId = (index, part = 0) => `${within(part)}t${index}`;
export const processId = (index, part = 0) => `${within(part)}p${index}`;
export const partId = (part) => `part${part}`;

/** Ids of the tracks by their number; parts are the traces, [{ track: number of its first track }, ...]. */
export const idsOf = (tracks, parts) =>
  tracks.map(({ part = 0 }, index) => trackId(index - (part ? parts[part].track : 0), part));

/**
 * Processes with their tracks: { id, name, part, tracks: [{ id, index, ...track }], counters, host }; index is the number of a
 * track among those of all traces.
 */
export function treeOf(tracks, parts = []) {
  const processes = new Map();
  const ids = idsOf(tracks, parts);
  tracks.forEach((track, index) => {
    const { part = 0 } = track;
    const key = JSON.stringify([part, track.order[0], track.process, track.process_id]);
    if (!processes.has(key)) {
      const id = processId(index - (part ? parts[part].track : 0), part);
      processes.set(key, { id, name: track.process, part, tracks: [], order: track.order[0] });
    }
    processes.get(key).tracks.push({ ...track, id: ids[index], index });
  });
  const found = [...processes.values()];
  for (const one of found) {
    one.tracks.sort((a, b) => a.order[1] - b.order[1] || a.index - b.index);
    one.counters = one.tracks.every(isCurve);
    one.host = one.tracks.every((track) => HOST.has(track.kind));
  }
  return found.sort((a, b) => a.part - b.part || a.order - b.order);
}

export const isCurve = (track) => !track.lanes && Boolean(track.series);

/** Siblings in the order in which `order` (a list of ids) names them; those it does not name stay where they are. */
export function ordered(siblings, order) {
  const place = new Map(order.map((id, at) => [id, at]));
  const named = siblings.filter((one) => place.has(one.id)).sort((a, b) => place.get(a.id) - place.get(b.id));
  let next = 0;
  return siblings.map((one) => (place.has(one.id) ? named[next++] : one));
}

/** The order after `id` was moved by one place among its siblings; entries for other siblings are kept. */
export function movedIn(siblings, order, id, by) {
  const ids = ordered(siblings, order).map((one) => one.id);
  const from = ids.indexOf(id);
  const to = from + by;
  if (from < 0 || to < 0 || to >= ids.length) return order;
  ids.splice(to, 0, ids.splice(from, 1)[0]);
  const own = new Set(ids);
  return [...order.filter((one) => !own.has(one)), ...ids];
}

/** Whether a text, several words that must all occur, is in the name of a track or its process. */
export function fits(track, filter) {
  const name = `${track.where || ""} ${track.process} ${track.thread} ${track.process_id} ${track.thread_id}`.toLowerCase();
  return filter.toLowerCase().split(/\s+/).every((word) => name.includes(word));
}

// A track is folded if it is in `folded`, or by default, which being in `opened` undoes.
const isFolded = (id, standard, { folded, opened }) => folded.has(id) || (standard && !opened.has(id));

function trackRow(track, state, pinned) {
  const tall = HEIGHTS[state.heights.get(track.id) || state.height];
  const row = { kind: "track", id: track.id, track, pinned, lane: tall, lanes: 0, folded: false };
  if (isCurve(track)) return { ...row, curve: true, height: CURVE };
  row.folded = isFolded(track.id, false, state);
  row.lanes = row.folded ? Math.min(FOLDED, track.lanes) : track.lanes;
  row.height = Math.max(row.lanes * tall, HEIGHTS.medium) + GAP;
  return row;
}

/**
 * The rows to draw, pinned ones and the others, each with y and height from the top of its part. state has sets of ids (folded,
 * opened, hidden), lists (pinned, order), filter, height (a key of HEIGHTS) and heights (id to key).
 */
export function rowsOf(tree, state) {
  const every = tree.flatMap((process) => process.tracks);
  const byId = new Map(every.map((track) => [track.id, track]));
  const shown = (track) => !state.hidden.has(track.id) && (!state.filter || fits(track, state.filter));
  const pinned = state.pinned.filter((id) => byId.has(id)).map((id) => trackRow(byId.get(id), state, true));
  const rows = [];
  const known = new Set(state.pinned);
  const parts = [...new Set(tree.map((process) => process.part))];
  for (const part of parts) {
    const head = { kind: "part", id: partId(part), part, folded: state.folded.has(partId(part)), height: PART, pinned: false };
    const own = [];
    for (const process of ordered(tree.filter((one) => one.part === part), state.order)) {
      if (state.hidden.has(process.id)) continue;
      const tracks = ordered(process.tracks, state.order).filter((track) => shown(track) && !known.has(track.id));
      if (!tracks.length) continue;
      const standard = process.counters || (process.host && parts.length >= MANY);
      const folded = !state.filter && isFolded(process.id, standard, state);
      own.push({ kind: "process", id: process.id, process, folded, height: HEAD, pinned: false });
      if (!folded) own.push(...tracks.map((track) => trackRow(track, state, false)));
    }
    if (parts.length > 1 && own.length) rows.push(head);
    if (!(head.folded && parts.length > 1)) rows.push(...own);
  }
  const hidden = every.filter((track) => state.hidden.has(track.id)).length
    + tree.filter((process) => state.hidden.has(process.id)).flatMap((one) => one.tracks).length;
  return { pinned: stacked(pinned), rows: stacked(rows), hidden };
}

function stacked(rows) {
  let y = 0;
  for (const row of rows) {
    row.y = y;
    y += row.height;
  }
  return { rows, height: y };
}

/** Numbers of the tracks that ids of tracks and processes stand for; [] for none, which means all. */
export function searchedTracks(tree, ids) {
  const wanted = new Set(ids);
  return tree.flatMap((process) => process.tracks.filter((track) => wanted.has(process.id) || wanted.has(track.id)))
    .map((track) => track.index).sort((a, b) => a - b);
}

/** The rows that are seen at least in part from y to below y + height. */
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

/** The number of the lane at a height within a row; -1 between lanes and where there is none. */
export function laneAt(row, y) {
  if (row.kind !== "track" || row.curve) return -1;
  const depth = Math.floor(y / row.lane);
  return depth >= 0 && depth < row.lanes ? row.track.first_lane + depth : -1;
}

/** The lanes of rows, rising and each once. */
export function lanesOf(rows) {
  const lanes = new Set();
  for (const row of rows) {
    for (let depth = 0; depth < row.lanes; depth += 1) lanes.add(row.track.first_lane + depth);
  }
  return [...lanes].sort((a, b) => a - b);
}
