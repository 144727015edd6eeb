// Colours given as hue, saturation and lightness.

/**
 * [r, g, b] of a colour in hsl, 0..255.
 * @param {number} hue
 * @param {number} saturation
 * @param {number} lightness
 * @returns {[number, number, number]}
 */
export function rgbOf(hue, saturation, lightness) {
  const s = saturation / 100;
  const l = lightness / 100;
  const a = s * Math.min(l, 1 - l);
  /** @param {number} n */
  const part = (n) => {
    const k = (n + hue / 30) % 12;
    return Math.round(255 * (l - a * Math.max(-1, Math.min(k - 3, 9 - k, 1))));
  };
  return [part(0), part(8), part(4)];
}
