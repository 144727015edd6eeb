// Decode arrays as layouts/kit/figures/typed_arrays.py and the value routes send them: a dtype and bytes.
/** @type {Record<string, new (buffer: ArrayBufferLike) => any>} */
const KINDS = {
  i1: Int8Array, u1: Uint8Array, i2: Int16Array, u2: Uint16Array, i4: Int32Array, u4: Uint32Array, i8: BigInt64Array,
  u8: BigUint64Array, f4: Float32Array, f8: Float64Array, c8: Float32Array, c16: Float64Array,
};
/** @type {WeakMap<Wire.SentArray, Numbers>} */
const decoded = new WeakMap();  // specification -> decoded array

/**
 * Numbers in a buffer; complex ones are pairs.
 * @param {string} dtype
 * @param {ArrayBufferLike} buffer
 */
export function arrayOf(dtype, buffer) {
  return new KINDS[dtype](buffer);
}

/**
 * Base64; Uint8Array.from with a function would take ten times as long as this loop.
 * @param {string} text
 */
function bytesOf(text) {
  const binary = window.atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < bytes.length; i += 1) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

/**
 * The numbers of {dtype, bdata}, decoded once; an array is returned as it is, and null for none.
 * @overload
 * @param {Wire.SentArray | Numbers} spec
 * @returns {Numbers}
 *
 * @overload
 * @param {Wire.SentArray | Numbers | null | undefined} spec
 * @returns {Numbers | null}
 *
 * @param {Wire.SentArray | Numbers | null | undefined} spec
 */
export function numbersOf(spec) {
  if (!spec) return null;
  if (!("bdata" in spec)) return spec;
  const known = decoded.get(spec);
  if (known) return known;
  const numbers = arrayOf(spec.dtype, bytesOf(spec.bdata).buffer);
  decoded.set(spec, numbers);
  return numbers;
}
