// The WebGL programs of parallel coordinates, compiled, for pages that have these.

import { programs } from "../vendor/plotly_programs.js";

/** @type {Promise<void> | null} */
let ready = null;

/** Hand plotly its compiled WebGL programs; see vendor/plotly_programs.js. */
export function programmed() {
  ready = ready || (async () => {
    while (!window.Plotly) await new Promise((done) => window.setTimeout(done, 20));
    const plot = await window.Plotly.newPlot(document.createElement("div"), [{ type: "parcoords", visible: false }]);
    Object.assign(plot._fullData[0]._module.plot.reglPrecompiled, programs);
    window.Plotly.purge(plot);
  })();
  return ready;
}
