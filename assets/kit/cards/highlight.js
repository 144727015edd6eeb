// Point out one line in a card: the others are dimmed. Lines on a canvas (layer.js) are dimmed together, and the one is drawn
// above them, so that a hundred lines need not be drawn again.

import * as layer from "./layer.js";

/**
 * Whether a trace belongs to the line with a key: the line, its shadow or its band.
 * @param {any[]} traces
 * @param {string} key
 * @returns {(trace: any) => boolean}
 */
export function belongsTo(traces, key) {
  const mains = traces.filter((trace) => trace.meta && trace.meta.key === key);
  const shadows = mains.map(({ meta }) => traces[meta.raw]);
  const bands = mains.map(({ meta }) => meta.colour);
  return (trace) => mains.includes(trace) || shadows.includes(trace) || Boolean(trace.meta && trace.meta.superseded === key)
    || (Boolean(trace.fill) && bands.includes(trace.fillcolor));
}

/**
 * Dim all lines of a card but one; with key null, none.
 * @param {HTMLElement} body of the card
 * @param {any[]} traces of its drawing, from bottom to top
 * @param {string | null} key
 */
export function highlight(body, traces, key) {
  const known = key !== null && traces.some((trace) => trace.meta && trace.meta.key === key);
  const mine = known ? belongsTo(traces, key) : null;
  body.classList.toggle("ms-lit", Boolean(mine));
  for (const element of body.querySelectorAll(".scatterlayer > .trace")) {
    const drawn = element.__data__ && element.__data__[0] && element.__data__[0].trace;
    element.classList.toggle("ms-lit-trace", Boolean(mine && drawn && mine(drawn._input)));
  }
  layer.light(body, mine);
}
