// Figures of which a page saved as a file may have every point, not only those that the screen shows. Pages of curves say which
// these are; the shell asks.

/**
 * What a page knows of one of its plots.
 * @typedef {object} WholeFigure
 * @property {number} bytes about what its points take in a file beyond those on screen
 * @property {() => Promise<PlotlyTrace[]>} traces with every point
 */

/** @type {((plot: Element) => WholeFigure | null)[]} */
const providers = [];

/**
 * Say of the plots of a page which can be had whole.
 * @param {(plot: Element) => WholeFigure | null} provider
 */
export function provide(provider) {
  providers.push(provider);
}

/**
 * The plots below an element that a file can have whole.
 * @param {Element} root
 * @returns {Map<Element, WholeFigure>}
 */
export function wholeFigures(root) {
  const found = new Map();
  for (const plot of root.querySelectorAll(".js-plotly-plot")) {
    const whole = plot.checkVisibility() && providers.map((provider) => provider(plot)).find(Boolean);
    if (whole) found.set(plot, whole);
  }
  return found;
}
