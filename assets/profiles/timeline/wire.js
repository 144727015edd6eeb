// What the server sends of a view, as typed arrays over the answer. Counterpart of parsers/profiler/trace/views.py:
// u32 big, u32 small, a byte each: the bytes of a bucket, a count and a lane, 0; then of the big slices f32 x and width
// (buckets), u32 name, u32 row, u16 lane, u8 category; then of the small buckets bucket, count, u32 row of the longest, lane,
// u8 busy. Every array is padded to four bytes.

const BUSY = 255;
/** @typedef {new (buffer: ArrayBuffer, at: number, length: number) => Timeline.Unsigned} UnsignedKind */
/** @type {Record<number, UnsignedKind>} */
const UNSIGNED = { 1: Uint8Array, 2: Uint16Array, 4: Uint32Array };

/**
 * The arrays of a view; lane counts the lanes asked for. Throws for an answer that is too short.
 * @param {ArrayBuffer} buffer
 */
export function decode(buffer) {
  const head = new Uint32Array(buffer, 0, 2);
  const [Bucket, Count, Lane] = [...new Uint8Array(buffer, 8, 3)].map((width) => UNSIGNED[width]);
  let at = 12;
  /**
   * @template {ArrayBufferView} Kind
   * @param {new (buffer: ArrayBuffer, at: number, length: number) => Kind} Kind
   * @param {number} length
   */
  const take = (Kind, length) => {
    const values = new Kind(buffer, at, length);
    at += Math.ceil(values.byteLength / 4) * 4;
    return values;
  };
  const [big, small] = head;
  const slices = {
    length: big, x: take(Float32Array, big), width: take(Float32Array, big), name: take(Uint32Array, big),
    row: take(Uint32Array, big), lane: take(Uint16Array, big), category: take(Uint8Array, big),
  };
  const buckets = {
    length: small, bucket: take(Bucket, small), count: take(Count, small), row: take(Uint32Array, small),
    lane: take(Lane, small), busy: take(Uint8Array, small),
  };
  return { slices, buckets };
}

/**
 * For every lane the places in the arrays that are in it, by position.
 * @param {number} lanes
 * @param {ArrayLike<number>} lane
 * @param {ArrayLike<number>} position
 */
export function byLane(lanes, lane, position) {
  const begin = new Uint32Array(lanes + 1);
  for (let i = 0; i < lane.length; i += 1) begin[lane[i] + 1] += 1;
  for (let i = 0; i < lanes; i += 1) begin[i + 1] += begin[i];
  const places = new Uint32Array(lane.length);
  const next = begin.slice(0, lanes);
  for (let i = 0; i < lane.length; i += 1) places[next[lane[i]]++] = i;
  for (let i = 0; i < lanes; i += 1) {
    const own = places.subarray(begin[i], begin[i + 1]);
    for (let j = 1; j < own.length; j += 1) {
      if (position[own[j]] >= position[own[j - 1]]) continue;
      own.sort((a, b) => position[a] - position[b]);
      break;
    }
  }
  return { begin, places };
}

/**
 * An answer with what was asked: lanes (numbers of lanes), k (buckets of 2^k ns), b0 (first bucket), n (how many).
 * from and to are in ns, base is the start of the first bucket. Those of a lane whose times are moved by shiftOf(lane) ns begin
 * late[place of the lane] (a part of a bucket) later. pending are lanes that the server cannot draw yet.
 * @param {ArrayBuffer} buffer
 * @param {Timeline.Asked} asked
 * @param {Set<number>} [pending]
 */
export function viewOf(buffer, { lanes, k, b0, n, shiftOf = null }, pending = new Set()) {
  const { slices, buckets } = decode(buffer);
  const bucket = 2 ** k;
  const late = Float64Array.from(lanes, (lane) => {
    const shift = shiftOf ? shiftOf(lane) / bucket : 0;
    return shift - Math.floor(shift);
  });
  const from = b0 > 0 && late.some((one) => one > 0) ? b0 + 1 : b0;
  return {
    lanes, k, b0, n, bucket, base: b0 * bucket, late, pending, from: from * bucket, to: (b0 + n) * bucket, slices, buckets,
    index: new Map(lanes.map((lane, at) => [lane, at])),
    slicesOf: byLane(lanes.length, slices.lane, slices.x),
    bucketsOf: byLane(lanes.length, buckets.lane, buckets.bucket),
  };
}

/**
 * The last place of a lane whose position is not above x; -1 for none.
 * @param {Timeline.Places} places
 * @param {number} lane
 * @param {ArrayLike<number>} position
 * @param {number} x
 */
function lastAt({ begin, places }, lane, position, x) {
  let low = begin[lane];
  let high = begin[lane + 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (position[places[middle]] <= x) low = middle + 1;
    else high = middle;
  }
  return low - 1 >= begin[lane] ? low - 1 : -1;
}

/**
 * What is drawn at a time (ns) of a lane: {slice} or {bucket}, a place in the arrays, or null. within: how far off (ns) a
 * slice may be that is narrower than a pixel.
 * @param {Timeline.View} view
 * @param {number} lane
 * @param {number} time
 * @param {number} [within]
 */
export function hit(view, lane, time, within = 0) {
  const at = view.index.get(lane);
  if (at === undefined) return null;
  const x = time / view.bucket - view.b0;
  const near = within / view.bucket;
  const { slices, slicesOf, buckets, bucketsOf } = view;
  const last = lastAt(slicesOf, at, slices.x, x);
  if (last >= 0) {
    const place = slicesOf.places[last];
    if (x < slices.x[place] + slices.width[place]) return { slice: place };
  }
  const inGrid = x - view.late[at];
  const small = lastAt(bucketsOf, at, buckets.bucket, inGrid);
  if (small >= 0 && buckets.bucket[bucketsOf.places[small]] === Math.floor(inGrid)) {
    return { bucket: bucketsOf.places[small] };
  }
  let best = null;
  let least = near;
  /**
   * @param {number} distance
   * @param {Timeline.Found} found
   */
  const offer = (distance, found) => {
    if (distance < least) { least = distance; best = found; }
  };
  for (const next of last < 0 ? [slicesOf.begin[at]] : [last, last + 1]) {
    if (next >= slicesOf.begin[at + 1]) continue;
    const place = slicesOf.places[next];
    offer(Math.max(slices.x[place] - x, x - slices.x[place] - slices.width[place], 0), { slice: place });
  }
  for (const next of small < 0 ? [bucketsOf.begin[at]] : [small, small + 1]) {
    if (next >= bucketsOf.begin[at + 1]) continue;
    const place = bucketsOf.places[next];
    offer(Math.max(buckets.bucket[place] - inGrid, inGrid - buckets.bucket[place] - 1, 0), { bucket: place });
  }
  return best;
}

/**
 * Share of the time of a bucket that is busy, 0..1.
 * @param {number} busy
 */
export const share = (busy) => busy / BUSY;

/**
 * The numbers in such a text as `spans` writes.
 * @param {string | null} text
 */
export function numbersOf(text) {
  return (text ? text.split(",") : []).flatMap((part) => {
    const [first, last = first] = part.split("-").map(Number);
    return Array.from({ length: last - first + 1 }, (_, at) => first + at);
  });
}

/**
 * Numbers as the server takes them: "0-3,7".
 * @param {number[]} numbers
 */
export function spans(numbers) {
  const parts = [];
  for (let i = 0; i < numbers.length;) {
    let j = i;
    while (j + 1 < numbers.length && numbers[j + 1] === numbers[j] + 1) j += 1;
    parts.push(i === j ? String(numbers[i]) : `${numbers[i]}-${numbers[j]}`);
    i = j + 1;
  }
  return parts.join(",");
}
