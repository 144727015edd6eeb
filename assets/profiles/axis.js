// Times on the axis: ticks, the time they are relative to, and durations as text. Everything is in ns.
import * as units from "../kit/units.js";

const UNITS = [{ unit: "s", of: 1e9 }, { unit: "ms", of: 1e6 }, { unit: "µs", of: 1e3 }, { unit: "ns", of: 1 }];

/**
 * A duration: 1.23 ms; "" for none.
 * @param {number} ns
 */
export const duration = (ns) => (Number.isFinite(ns) ? units.duration(ns / 1e9) : "");

/**
 * A difference: +1.50 ms, −20.0 µs, 0 s.
 * @param {number} ns
 */
export const signed = (ns) => (Number.isFinite(ns) ? units.duration(ns / 1e9, { signed: true }) : "");

/**
 * The smallest of 1, 2, 5 times a power of ten that is not below `least`; at least 1.
 * @param {number} least
 */
export function niceStep(least) {
  if (!(least > 1)) return 1;
  const power = 10 ** Math.floor(Math.log10(least));
  return [1, 2, 5, 10].map((one) => one * power).find((one) => one >= least * (1 - 1e-9)) || 10 * power;
}

/**
 * Ticks from `from` to `to`, at most one per `least` pixels of `width`; zero is the time that counts as 0. base is a text that
 * every label is relative to, "" if labels are complete.
 * @param {number} from
 * @param {number} to
 * @param {number} width
 * @param {number} [zero]
 * @param {number} [least]
 */
export function ticks(from, to, width, zero = 0, least = 90) {
  const step = niceStep(((to - from) * least) / Math.max(1, width));
  const first = Math.ceil((from - zero) / step);
  const last = Math.floor((to - zero) / step);
  const largest = Math.max(Math.abs(from - zero), Math.abs(to - zero));
  // Labels are relative once they would need more than seven digits.
  const far = largest / step >= 1e6;
  const grid = step * 1000;
  const base = far ? Math.floor((from - zero) / grid) * grid : 0;
  const largestShown = Math.max(Math.abs(from - zero - base), Math.abs(to - zero - base));
  const { unit, of } = UNITS.find((one) => largestShown >= one.of) || UNITS[3];
  const digits = Math.max(0, Math.ceil(Math.log10(of) - Math.log10(step) - 1e-9));
  const found = [];
  for (let i = first; i <= last && found.length < 1000; i += 1) {
    const at = i * step;
    const value = (at - base) / of || 0;
    const text = value.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });
    found.push({ at: at + zero, label: `${far ? "+" : ""}${text.replace(/^-(?=0\.?0*$)/, "")} ${unit}` });
  }
  return { step, ticks: found, base: far ? units.exactTime(base) : "" };
}
