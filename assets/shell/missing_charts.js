// A notice when plotly.js could not be loaded for charts that Dash draws: their cards stay empty.

import { isLoading } from "../kit/page_files.js";
import { noticeOfCharts } from "./connection.js";

/** @param {Event} event */
function whenFailed({ target }) {
  if (!(target instanceof HTMLScriptElement) || window.Plotly || !window._dashPlotlyJSURL) return;
  const isCharts = target.src === new URL(window._dashPlotlyJSURL, document.baseURI).href;
  if (isCharts && !isLoading(window._dashPlotlyJSURL)) noticeOfCharts();
}

document.addEventListener("error", whenFailed, true);
