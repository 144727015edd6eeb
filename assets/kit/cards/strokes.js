// Rasterise lines into an image: what a canvas would draw with round joins, in a third of the processor time for noisy lines
// of hundreds of points (1,000 lines of 1,000 points: 0.35 s instead of 1.1 s in Chromium without a graphics card).
//
// A line is the union of its segments' capsules. The coverage of a pixel is its distance from the nearest segment, so a line
// that crosses itself is no darker there; each line is then laid over the lines before it. Coordinates are device pixels.

const OPAQUE = 255;

/**
 * An image under construction.
 * @param {number} width
 * @param {number} height
 */
export function sheet(width, height) {
  return {
    width,
    height,
    cover: new Uint8Array(width * height),  // of the line being drawn, column by column
    top: new Int32Array(width).fill(height),  // the rows it touches in each column
    bottom: new Int32Array(width).fill(-1),
    pixels: new Uint8ClampedArray(4 * width * height),  // row by row, premultiplied
  };
}

/**
 * Add a segment to the line being drawn; one without a length is a dot.
 * @param {ReturnType<typeof sheet>} on
 * @param {number} x0
 * @param {number} y0
 * @param {number} x1
 * @param {number} y1
 * @param {number} width of the line
 */
export function segment(on, x0, y0, x1, y1, width) {
  const { cover, height, top, bottom } = on;
  const reach = width / 2 + 0.5;
  const dx = x1 - x0;
  const dy = y1 - y0;
  const length2 = dx * dx + dy * dy;
  const inverse = length2 > 0 ? 1 / length2 : 0;
  const slope = Math.sqrt(inverse);
  const alongStep = dy * inverse;
  const besideStep = dx * slope;
  // Pixel centres are at halves.
  const first = Math.max(0, Math.ceil((dx < 0 ? x1 : x0) - reach - 0.5));
  const last = Math.min(on.width - 1, Math.floor((dx < 0 ? x0 : x1) + reach - 0.5));
  for (let column = first; column <= last; column += 1) {
    const cx = column + 0.5 - x0;
    // The part of the segment that is near this column bounds the rows.
    let from = 0;
    let to = 1;
    if (dx !== 0) {
      const one = (cx - reach) / dx;
      const other = (cx + reach) / dx;
      from = Math.max(0, Math.min(one, other));
      to = Math.min(1, Math.max(one, other));
    }
    const low = y0 + dy * (dy < 0 ? to : from) - reach - 0.5;
    const high = y0 + dy * (dy < 0 ? from : to) + reach - 0.5;
    const start = low > 0 ? Math.ceil(low) : 0;
    const end = high < height - 1 ? Math.floor(high) : height - 1;
    if (start > end) continue;
    if (start < top[column]) top[column] = start;
    if (end > bottom[column]) bottom[column] = end;
    // Beside the segment the distance is that from its line, which changes evenly from row to row.
    const base = column * height;
    let cy = start + 0.5 - y0;
    let along = inverse > 0 ? (cx * dx + cy * dy) * inverse : -1;
    let beside = (cx * dy - cy * dx) * slope;
    for (let row = base + start; row <= base + end; row += 1) {
      let away = beside < 0 ? -beside : beside;
      if (along < 0) away = Math.sqrt(cx * cx + cy * cy);
      else if (along > 1) away = Math.sqrt((cx - dx) * (cx - dx) + (cy - dy) * (cy - dy));
      // The larger of the share now and before, from 0 to 255; branches that cannot be predicted would take longer.
      const over = OPAQUE - (((reach - away) * OPAQUE + 0.5) | 0);
      const more = OPAQUE - (over & ~(over >> 31)) - cover[row];
      cover[row] += more & ~(more >> 31);
      cy += 1;
      along += alongStep;
      beside -= besideStep;
    }
  }
}

/**
 * Lay the line over what is drawn already, and begin another one.
 * @param {ReturnType<typeof sheet>} on
 * @param {number[]} colour red, green, blue
 * @param {number} opacity 0 to 1
 */
export function finish(on, [red, green, blue], opacity = 1) {
  const { width, height, cover, top, bottom, pixels } = on;
  const share = opacity / OPAQUE;
  for (let column = 0; column < width; column += 1) {
    const end = bottom[column];
    for (let row = top[column]; row <= end; row += 1) {
      const covered = cover[column * height + row];
      if (covered === 0) continue;
      cover[column * height + row] = 0;
      const at = 4 * (row * width + column);
      const part = covered * share;
      const rest = 1 - part;
      pixels[at] = (red * part + pixels[at] * rest + 0.5) | 0;
      pixels[at + 1] = (green * part + pixels[at + 1] * rest + 0.5) | 0;
      pixels[at + 2] = (blue * part + pixels[at + 2] * rest + 0.5) | 0;
      pixels[at + 3] = (OPAQUE * part + pixels[at + 3] * rest + 0.5) | 0;
    }
    top[column] = height;
    bottom[column] = -1;
  }
}

/**
 * The pixels as ImageData has them: colours not multiplied by their opacity.
 * @param {ReturnType<typeof sheet>} on
 */
export function straight({ pixels }) {
  for (let at = 0; at < pixels.length; at += 4) {
    const share = pixels[at + 3];
    if (share === 0 || share === OPAQUE) continue;
    const factor = OPAQUE / share;
    pixels[at] *= factor;
    pixels[at + 1] *= factor;
    pixels[at + 2] *= factor;
  }
  return pixels;
}
