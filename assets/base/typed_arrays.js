// Decode arrays as layouts/figures/typed_arrays.py and the value routes send them: a dtype and bytes.
const KINDS = {
  i1: Int8Array, u1: Uint8Array, i2: Int16Array, u2: Uint16Array, i4: Int32Array, u4: Uint32Array, i8: BigInt64Array,
  u8: BigUint64Array, f4: Float32Array, f8: Float64Array, c8: Float32Array, c16: Float64Array,
};
const decoded = new WeakMap();  // specification -> decoded array

/** Numbers in a buffer; complex ones are pairs. */
export function arrayOf(dtype, buffer) {
  return new KINDS[dtype](buffer);
}

// Base64; Uint8Array.from with a function would take ten times as long as this loop.
function bytesOf(text) {
  const binary = window.atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < bytes.length; i += 1) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

/** The numbers of {dtype, bdata}, decoded once; an array is returned as it is, and null for none. */
export function numbersOf(spec) {
  if (!spec) return null;
  if (spec.bdata === undefined) return spec;
  if (!decoded.has(spec)) {
    decoded.set(spec, arrayOf(spec.dtype, bytesOf(spec.bdata).buffer));
  }
  return decoded.get(spec);
}
