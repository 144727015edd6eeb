// What brushes on parallel axes hold, and what they become while they are drawn, moved and stepped by keys.

import { numbersOf } from "../kit/typed_arrays.js";

const STEP = 0.02;  // of an axis, for a key

/**
 * Which rows are within the brushes of all axes: 1 or 0 for each.
 * @param {Lineage.Dimension[]} dimensions
 * @param {Map<string, Lineage.Stretch[]>} brushes
 * @param {number} count of rows
 */
export function heldBy(dimensions, brushes, count) {
  const held = new Uint8Array(count).fill(1);
  for (const { name, values } of dimensions) {
    const parts = brushes.get(name) || [];
    if (!parts.length) continue;
    const places = numbersOf(values);
    for (let row = 0; row < count; row += 1) {
      if (!parts.some(([from, to]) => from <= places[row] && places[row] <= to)) held[row] = 0;
    }
  }
  return held;
}

/**
 * Stretches without overlaps, from below.
 * @param {Lineage.Stretch[]} parts
 */
export function joined(parts) {
  /** @type {Lineage.Stretch[]} */
  const found = [];
  for (const [from, to] of parts.map(([a, b]) => [Math.min(a, b), Math.max(a, b)]).sort((a, b) => a[0] - b[0])) {
    const before = found[found.length - 1];
    if (before && from <= before[1]) before[1] = Math.max(before[1], to);
    else found.push([from, to]);
  }
  return found;
}

/**
 * Return a range moved by a distance, but not beyond the ends of the axis.
 * @param {Lineage.Stretch} part
 * @param {Lineage.Stretch} range
 * @param {number} by
 */
export function shifted([from, to], [low, high], by) {
  const within = Math.min(high - to, Math.max(low - from, by));
  return [from + within, to + within];
}

/**
 * The brushes of an axis while one of them is drawn or moved.
 * @param {Lineage.Stretch[]} before
 * @param {number} held which of them is moved, -1 for one that is drawn
 * @param {Lineage.Stretch} range of the axis
 * @param {number} from where the pointer was pressed
 * @param {number} to where it is
 */
export function dragged(before, held, range, from, to) {
  const rest = before.filter((_, i) => i !== held);
  return [...rest, held === -1 ? [from, to] : shifted(before[held], range, to - from)];
}

/**
 * The brushes of an axis after a press that did not move: without the one that was pressed, none after a press beside them.
 * @param {Lineage.Stretch[]} before
 * @param {number} held
 */
export function pressed(before, held) {
  return held === -1 ? [] : before.filter((_, i) => i !== held);
}

/**
 * The brushes of an axis after a key: up and down move the last one, or its upper end; without one they make one.
 * @param {Lineage.Stretch[]} before
 * @param {Lineage.Stretch} range of the axis
 * @param {string} key
 * @param {boolean} end whether only the upper end moves
 * @returns {Lineage.Stretch[] | null} null for a key of which brushes know nothing
 */
export function stepped(before, range, key, end) {
  if (["Delete", "Backspace"].includes(key)) return [];
  if (!["ArrowUp", "ArrowDown"].includes(key)) return null;
  const [low, high] = range;
  if (!before.length) return [[low + (high - low) / 2, high]];
  const [from, to] = before[before.length - 1];
  const step = (high - low) * STEP * (key === "ArrowUp" ? 1 : -1);
  return [...before.slice(0, -1), end ? [from, Math.min(high, Math.max(from, to + step))] : shifted([from, to], range, step)];
}
