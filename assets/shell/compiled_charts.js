// V8 keeps what it has compiled of a script when it sees the script for the second time, so a second visit would compile all
// of plotly.js again. Once the first charts are there, plotly.js is asked for a second time if it has just been downloaded: it
// does nothing then (app/web/bundles.py), but V8 keeps what those charts needed. Other browsers lose nothing.

const LOOK_MS = 100;
const LONGEST_MS = 5000;  // to wait for charts

const pause = () => new Promise((done) => window.setTimeout(done, LOOK_MS));
const idle = () => new Promise((done) => (window.requestIdleCallback || window.setTimeout)(done));
const isDrawn = () => document.querySelector(".js-plotly-plot .main-svg") && !document.querySelector(".ms-pending");

/**
 * Whether a file came over the network; from the browser's cache comes nothing, or the head of an answer.
 * @param {string} url
 */
function isDownloaded(url) {
  const [entry] = /** @type {PerformanceResourceTiming[]} */ (performance.getEntriesByName(url, "resource"));
  return Boolean(entry) && entry.transferSize > entry.encodedBodySize;
}

/** @param {string} src */
async function askAgain(src) {
  const until = performance.now() + LONGEST_MS;
  while (!isDrawn() && performance.now() < until) await pause();
  await idle();
  const script = Object.assign(document.createElement("script"), { src });
  script.onload = script.onerror = () => script.remove();
  document.head.append(script);
}

/** @param {Event} event */
function whenLoaded({ target }) {
  if (!(target instanceof HTMLScriptElement) || !window._dashPlotlyJSURL) return;
  const { href } = new URL(window._dashPlotlyJSURL, document.baseURI);
  if (target.src !== href) return;
  document.removeEventListener("load", whenLoaded, true);
  if (isDownloaded(href)) askAgain(href);
}

document.addEventListener("load", whenLoaded, true);
