// Units: the only place that writes a percentage, bytes, a duration, a rate or a count as text. Counterpart of
// layouts/kit/units.py; tests/layouts/kit/units.json holds cases on which both agree. Three significant digits, thousands
// separated, and the unit. Only 0 is written as 0. What rounds up to the next unit is written in that unit. What is unknown,
// null or NaN, is a dash.

const MINUS = "\u2212";
const UNKNOWN = "–";
const BYTES = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
const PREFIXES = ["", "k", "M", "G", "T", "P", "E"];
const TIMES = [
  { factor: 1, unit: "s" }, { factor: 1e3, unit: "ms" }, { factor: 1e6, unit: "µs" }, { factor: 1e9, unit: "ns" },
];
/** Seconds, 32 million years; what is longer is no duration, and is not written as days. */
const LONGEST = 1e15;

/** @typedef {number | null | undefined} Maybe */

/**
 * A number of things: 1,234,567; one that is not whole, such as a mean, to three digits.
 * @param {Maybe | bigint} value
 * @returns {string}
 */
export function count(value) {
  if (typeof value === "bigint") return value < 0n ? `${MINUS}${grouped(String(-value))}` : grouped(String(value));
  if (value === null || value === undefined) return UNKNOWN;
  if (!Number.isFinite(value)) return special(value);
  const size = Math.abs(value);
  const whole = Number.isInteger(value) && size < 2 ** 63;
  return withSign(value, whole ? grouped(String(BigInt(size))) : threeDigits(size));
}

/**
 * A share of 1 in percent: 5.43 %, 0.00123 %, 99.96 %. Only 0 is 0 %, and only the whole is 100 %: what lies nearer to it than
 * two decimals can show is > 99.99 % or < 100.01 %.
 * @param {Maybe} share
 * @param {{ signed?: boolean }} [look] signed: a plus before what is above 0
 * @returns {string}
 */
export function percent(share, { signed = false } = {}) {
  if (share === null || share === undefined) return UNKNOWN;
  if (!Number.isFinite(100 * share)) return special(share);
  const size = Math.abs(share);
  let bound = "";
  let text = size === 1 ? "100" : threeDigits(100 * size);
  if (text === "100" && size !== 1) {
    text = [1, 2].map((places) => (100 * size).toFixed(places)).find((one) => Number(one) !== 100) || "";
    if (!text) {
      text = size < 1 ? "99.99" : "100.01";
      bound = (size < 1) === (share > 0) ? "> " : "< ";
    }
  }
  return `${bound}${withSign(share, text, signed)} %`;
}

/**
 * Bytes of files and memory in powers of 1,024: 512 B, 3.10 GiB, 1,023 MiB.
 * @param {Maybe} value
 * @param {{ signed?: boolean }} [look]
 * @returns {string}
 */
export function size(value, { signed = false } = {}) {
  if (value === null || value === undefined) return UNKNOWN;
  if (!Number.isFinite(value)) return special(value);
  let scaled = Math.abs(value);
  let step = 0;
  for (; scaled >= 1023.5 && step < BYTES.length - 1; step += 1) scaled /= 1024;
  const text = step === 0 && Number.isInteger(scaled) ? grouped(String(scaled)) : threeDigits(scaled);
  return `${withSign(value, text, signed)} ${BYTES[step]}`;
}

/**
 * An amount in powers of 1,000, as makers of devices and links count: 1.05 MB, 312 TFLOP.
 * @param {Maybe} value
 * @param {string} unit
 * @returns {string}
 */
export function prefixed(value, unit) {
  if (value === null || value === undefined) return UNKNOWN;
  if (!Number.isFinite(value)) return special(value);
  let scaled = Math.abs(value);
  let step = 0;
  for (; scaled >= 999.5 && step < PREFIXES.length - 1; step += 1) scaled /= 1000;
  const text = step === 0 && Number.isInteger(scaled) ? String(scaled) : threeDigits(scaled);
  return `${withSign(value, text)} ${PREFIXES[step]}${unit}`;
}

/**
 * An amount per second: 23.4 GB/s, 312 TFLOP/s.
 * @param {Maybe} value
 * @param {string} unit
 * @returns {string}
 */
export function rate(value, unit) {
  return prefixed(value, `${unit}/s`);
}

/**
 * A duration: 1.24 ms, 12.3 s, 4 m 05 s, 2 h 03 m, 3 d 04 h.
 * @param {Maybe} seconds
 * @param {{ signed?: boolean }} [look]
 * @returns {string}
 */
export function duration(seconds, { signed = false } = {}) {
  if (seconds === null || seconds === undefined) return UNKNOWN;
  if (!Number.isFinite(seconds)) return special(seconds);
  return withSign(seconds, time(Math.abs(seconds)), signed);
}

/**
 * @param {number} seconds
 * @returns {string}
 */
function time(seconds) {
  if (seconds === 0) return "0 s";
  if (seconds < 59.95 || seconds >= LONGEST) {
    const { factor, unit } = TIMES.find((one) => seconds * one.factor >= 0.9995) || TIMES[TIMES.length - 1];
    return `${threeDigits(seconds * factor)} ${unit}`;
  }
  const [whole, minutes, hours] = [1, 60, 3600].map((one) => Math.floor(seconds / one + 0.5));
  /** @param {number} part */
  const two = (part) => String(part).padStart(2, "0");
  if (whole < 3600) return `${Math.floor(whole / 60)} m ${two(whole % 60)} s`;
  if (minutes < 1440) return `${Math.floor(minutes / 60)} h ${two(minutes % 60)} m`;
  return `${grouped(String(Math.floor(hours / 24)))} d ${two(hours % 24)} h`;
}

/**
 * A number from 0 on to three digits, whole above that: 0, 0.0123, 1.20, 123, 12,346, 1.23e-5.
 * @param {number} value
 * @returns {string}
 */
function threeDigits(value) {
  if (value === 0) return "0";
  if (value < 1e-4 || value >= 1e15) return value.toExponential(2);
  return value >= 999.5 ? grouped(value.toFixed(0)) : value.toPrecision(3);
}

/** @param {string} digits */
function grouped(digits) {
  return digits.replace(/\B(?=(\d{3})+$)/g, ",");
}

/**
 * @param {number} value
 * @param {string} text
 * @param {boolean} [signed]
 */
function withSign(value, text, signed = false) {
  return value < 0 ? `${MINUS}${text}` : signed && value > 0 ? `+${text}` : text;
}

/** @param {number} value one that is not finite, or not in percent */
function special(value) {
  return Number.isNaN(value) ? UNKNOWN : value > 0 ? "+Inf" : `${MINUS}Inf`;
}

// Times in full precision --------------------------------------------------------------------------------------------

/**
 * A time to the nanosecond, in s with groups of three: 1.234 567 890 s.
 * @param {number} ns
 * @returns {string}
 */
export function exactTime(ns) {
  const whole = BigInt(Math.round(ns));
  const distance = whole < 0n ? -whole : whole;
  const rest = String(distance % 1000000000n).padStart(9, "0").replace(/(\d{3})(?=\d)/g, "$1 ");
  return `${withSign(ns, `${count(distance / 1000000000n)}.${rest}`)} s`;
}

/**
 * A duration to the nanosecond: 12,345 ns.
 * @param {number} ns
 * @returns {string}
 */
export function exactDuration(ns) {
  return `${count(Math.round(ns))} ns`;
}

/**
 * The time since a start, to tell points of a curve apart: 12.345 s, 4 m 05 s, 2 h 03 m 04 s; "" for none.
 * @param {number} seconds
 * @returns {string}
 */
export function elapsed(seconds) {
  if (!Number.isFinite(seconds)) return "";
  const distance = Math.abs(seconds);
  if (distance < 60) return `${withSign(seconds, distance.toFixed(3))} s`;
  /** @param {number} part */
  const two = (part) => String(Math.floor(part)).padStart(2, "0");
  const minutes = Math.floor(distance / 60) % 60;
  const rest = `${two(distance % 60)} s`;
  return withSign(seconds, distance < 3600 ? `${minutes} m ${rest}`
    : `${count(Math.floor(distance / 3600))} h ${two(minutes)} m ${rest}`);
}

// Raw numbers of curves and settings, which have no unit ---------------------------------------------------------------

/**
 * Four significant digits, thousands separated.
 * @param {number} value
 * @returns {string}
 */
export function short(value) {
  if (!Number.isFinite(value)) return raw(value);
  const rounded = Number(value.toPrecision(4));
  const size = Math.abs(rounded);
  return size >= 1e4 && size < 1e12 ? rounded.toLocaleString("en") : String(rounded);
}

/**
 * A measured number to four significant digits, so that numbers below each other have one precision: 0.5000, 1,235, 1.235e-07.
 * @param {number} value
 * @returns {string}
 */
export function number(value) {
  if (!Number.isFinite(value)) return raw(value);
  if (value === 0) return "0";
  const scientific = value.toExponential(3);
  const [digits, power] = scientific.split("e");
  const exponent = Number(power);
  if (exponent < -4 || exponent >= 6) return `${digits}e${power[0]}${power.slice(1).padStart(2, "0")}`;
  if (exponent >= 4) return grouped(value.toFixed(0));
  const fixed = value.toFixed(3 - exponent);
  const [whole, part] = (Number.isInteger(value) ? String(value) : fixed).split(".");
  return part ? `${grouped(whole)}.${part}` : grouped(whole);
}

/**
 * A value of a column as a cell shows it: bytes and seconds with their units, whole numbers in full, others to four digits.
 * @param {number} value
 * @param {string} unit
 * @returns {string}
 */
export function cellText(value, unit) {
  if (!Number.isFinite(value)) return raw(value);
  if (unit === "B") return size(value);
  if (unit === "s") return duration(value);
  if (Number.isInteger(value) && Math.abs(value) < 1e15) return value.toLocaleString("en");
  const magnitude = Math.abs(value);
  if (magnitude < 1e-4 || magnitude >= 1e6) return value.toExponential(3).replace(/\.?0+e/, "e");
  return Number(value.toPrecision(4)).toLocaleString("en", { maximumFractionDigits: 10 });
}

/** @param {number} value one that is not finite */
function raw(value) {
  return Number.isNaN(value) ? "NaN" : value > 0 ? "+Inf" : "-Inf";
}
