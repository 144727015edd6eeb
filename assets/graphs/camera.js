// Where the camera goes, as plain numbers. A camera is { zoom, pan: { x, y } }: a place of the drawing is at
// place * zoom + pan.

const MARGIN_PX = 20;
const LEAST_ZOOM = 0.25;

/**
 * The camera that has a box on screen, moved as little as that takes. A box that is too large is fitted; one so large that
 * this would be below LEAST_ZOOM is shown from its top.
 * @param {{ x: number, y: number, w: number, h: number }} box top left corner and size in px of the drawing
 * @param {{ width: number, height: number }} screen
 * @param {Graphs.Camera} camera
 */
export function withBox(box, screen, camera) {
  const room = { x: screen.width - 2 * MARGIN_PX, y: screen.height - 2 * MARGIN_PX };
  const fitting = Math.min(room.x / box.w, room.y / box.h);
  const zoom = Math.min(camera.zoom, Math.max(fitting, LEAST_ZOOM));
  const scale = zoom / camera.zoom;
  // Zooming out keeps the box's corner in place.
  const corner = { x: box.x * camera.zoom + camera.pan.x, y: box.y * camera.zoom + camera.pan.y };
  const pan = scale === 1 ? { ...camera.pan } : { x: corner.x - box.x * zoom, y: corner.y - box.y * zoom };
  const x = within(pan.x, box.x, box.w, zoom, screen.width);
  return { zoom, pan: { x, y: within(pan.y, box.y, box.h, zoom, screen.height) } };
}

/**
 * @param {number} pan
 * @param {number} begin
 * @param {number} length
 * @param {number} zoom
 * @param {number} room
 */
function within(pan, begin, length, zoom, room) {
  const [first, last] = [begin * zoom + pan, (begin + length) * zoom + pan];
  if (last - first > room - 2 * MARGIN_PX) return MARGIN_PX - begin * zoom;
  if (first < MARGIN_PX) return pan + MARGIN_PX - first;
  if (last > room - MARGIN_PX) return pan + room - MARGIN_PX - last;
  return pan;
}

/**
 * A camera as a text of a link: zoom and the place of the drawing in the middle of the screen, whatever its size.
 * @param {Graphs.Camera} camera
 * @param {Graphs.Size} screen
 */
export function written({ zoom, pan }, screen) {
  const middle = [(screen.width / 2 - pan.x) / zoom, (screen.height / 2 - pan.y) / zoom];
  return [zoom.toFixed(3), ...middle.map((one) => one.toFixed(0))].join(",");
}

/**
 * The camera that such a text means; null for another text.
 * @param {string} text
 * @param {Graphs.Size} screen
 */
export function read(text, screen) {
  const numbers = String(text).split(",").map(Number);
  if (numbers.length !== 3 || !numbers.every(Number.isFinite) || numbers[0] <= 0) return null;
  const zoom = Math.min(4, Math.max(0.02, numbers[0]));
  return { zoom, pan: { x: screen.width / 2 - numbers[1] * zoom, y: screen.height / 2 - numbers[2] * zoom } };
}

/**
 * Where a tip is put beside the pointer so that it stays in its host: { left, top } in px.
 * @param {Graphs.Point} pointer
 * @param {Graphs.Size} tip
 * @param {Graphs.Size} host
 */
export function besidePointer(pointer, tip, host) {
  const left = Math.max(4, Math.min(pointer.x + 12, host.width - tip.width - 4));
  const below = pointer.y + 18;
  const top = below + tip.height + 4 <= host.height ? below : Math.max(4, pointer.y - tip.height - 8);
  return { left, top };
}
