// Numbers of tensors: decoded from bytes, and formatted.
import { arrayOf } from "../typed_arrays.js";

const LONGEST = { int8: 4, uint8: 3, int16: 6, uint16: 5, int32: 11, uint32: 10, int64: 20, uint64: 20, bool: 5 };
const MOST_CHARACTERS = 22;

/**
 * Accessor by index: a number, a BigInt, or [real, imaginary].
 * @param {ArrayBuffer} buffer
 */
export function reader(dtype, buffer) {
  const values = arrayOf(dtype, buffer);
  /** @param {number} i */
  const pair = (i) => [values[2 * i], values[2 * i + 1]];
  /** @param {number} i */
  const one = (i) => values[i];
  return dtype[0] === "c" ? pair : one;
}

/** @param {number} value */
export function finite(value) {
  if (Array.isArray(value)) return value.every(Number.isFinite);
  return typeof value === "bigint" || Number.isFinite(value);
}

/**
 * Value used for colours; the magnitude of complex numbers.
 * @param {number} value
 */
export function size(value) {
  const number = Array.isArray(value) ? Math.hypot(...value) : Number(value);
  return Number.isFinite(number) ? number : 0;
}

/** @param {number} value */
function special(value) {
  if (Number.isNaN(value)) return "NaN";
  return value > 0 ? "Inf" : "-Inf";
}

/**
 * @param {number} value
 * @param {{ scientific: boolean, digits: number, whole: boolean }} options
 */
function real(value, { scientific, digits, whole }) {
  if (!Number.isFinite(value)) return special(value);
  if (scientific) return value.toExponential(digits);
  const text = value.toFixed(whole ? 0 : digits);
  // toFixed writes all digits of large numbers.
  return text.length > MOST_CHARACTERS || text.includes("e") ? value.toExponential(digits) : text;
}

/**
 * Formatter for a dtype and the width it needs; largest is the largest magnitude, if known.
 * look.whole: floats that hold integers.
 * @param {{ scientific: boolean, digits: number, whole: boolean }} look
 * @param {number} largest
 */
export function formatter(dtype, look, largest) {
  /** @param {number} value */
  const write = (value) => {
    if (dtype === "bool") return value ? "True" : "False";
    if (Array.isArray(value)) return `${real(value[0], look)}${value[1] < 0 ? "" : "+"}${real(value[1], look)}i`;
    if (dtype.includes("int")) return look.scientific ? Number(value).toExponential(look.digits) : String(value);
    return real(value, look);
  };
  /** @param {number} value */
  const cell = (value) => ({ text: write(value), kind: finite(value) ? "" : " ms-bad" });
  return { cell, characters: characters(dtype, look, largest) };
}

/**
 * @param {{ scientific: boolean, digits: number, whole: boolean }} look
 * @param {number} largest
 */
function characters(dtype, look, largest) {
  const signed = 1 + real(Math.max(largest, 1), look).length;
  if (dtype === "bool") return LONGEST.bool;
  if (dtype.startsWith("complex")) return 2 * signed + 2;
  if (!dtype.includes("int") || look.scientific) return signed;
  return Math.min(LONGEST[dtype], largest ? 1 + String(Math.round(largest)).length : 6);
}

/**
 * Fewest digits that read back as the same value of the dtype.
 * @param {number} value
 * @param {string} dtype
 */
export function exact(value, dtype) {
  if (Array.isArray(value)) return `${exact(value[0], "float64")}${value[1] < 0 ? "" : "+"}${exact(value[1], "float64")}i`;
  if (dtype === "bool") return value ? "True" : "False";
  if (!finite(value)) return special(value);
  if (dtype !== "float32" && dtype !== "float16") return String(value);
  for (let digits = 1; digits < 9; digits += 1) {
    const short = Number(value.toPrecision(digits));
    if (Math.fround(short) === value) return String(short);
  }
  return String(Number(value.toPrecision(9)));
}
