// Canvases: the context to draw with, and their pictures as files.

/**
 * The context to draw with in two dimensions; an error where the browser has none left.
 * @param {HTMLCanvasElement} canvas
 * @param {CanvasRenderingContext2DSettings} [settings]
 */
export function penOf(canvas, settings) {
  const pen = canvas.getContext("2d", settings);
  if (!pen) throw new Error("The browser has no context for another canvas");
  return pen;
}

/**
 * The picture on a canvas as PNG.
 * @param {HTMLCanvasElement} canvas
 * @returns {Promise<Blob>}
 */
export function pictureOf(canvas) {
  return new Promise((done, fail) => {
    canvas.toBlob((blob) => {
      if (blob) done(blob);
      else fail(new Error("The browser cannot make a picture of this size"));
    }, "image/png");
  });
}
