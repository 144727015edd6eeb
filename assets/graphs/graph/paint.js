// The graph painted by a metric: choice of metric, source and step, the bar of colours and the lists beside it. The server
// computes values and colours (layouts/graphs/graph/painting.py); assets/graphs/canvas.js puts them on the boxes.

import { setProps } from "../../kit/dash.js";
import { fillSelect, iconButton, make, select, words } from "../../kit/elements.js";
import { language, setLabel, translate } from "../../kit/i18n.js";
import { showPlainHtml } from "../../kit/plain_html.js";
import { same } from "../../kit/state.js";
import * as canvas from "../canvas.js";
import * as view from "../view.js";

const METRICS = ["time", "flops", "memory", "use", "nan", "inf", "overflow", "norm"];
const AGAIN_MS = 700;
const WAIT_MS = 60;
const WAITING = ["reading", "waiting"];
/** What names the values, cleared with the graph. */
export const NONE = { by: [], part: [], at: [] };

/** @param {Wire.Texts} pair */
const own = (pair) => pair[language() === "zh" ? 1 : 0];
/** @param {Wire.Texts} texts */
const both = ([english, chinese]) => make("span", "t", [
  make("span", "en", english, { lang: "en" }), make("span", "zh", chinese, { lang: "zh-CN" }),
]);

/** @param {Graphs.Page} page */
export function fields(page) {
  const metric = select("graph.paint", (metric) => page.change({ ...NONE, paint: metric ? [metric] : [] }),
    { "data-control": "paint" });
  const paints = {
    source: select("graph.paint.from", (key) => page.change({ ...NONE, by: [key] }), { "data-control": "by" }),
    part: select("graph.paint.part", (part) => page.change({ part: [part], at: [] }), { "data-control": "part" }),
    range: make("input", "ms-slider ms-graph-at", [], { type: "range", min: "0", step: "1", "data-control": "at" }),
    at: make("output", "ms-number ms-graph-step"),
    before: iconButton("left", "graph.paint.before", "before"),
    after: iconButton("right", "graph.paint.after", "after"),
    log: make("button", "ms-button", words("graph.paint.log"), { type: "button", "data-control": "log" }),
    steps: make("span", "ms-graph-steps"),
    bar: make("div", "ms-graph-scale", [], { role: "img" }),
    csv: make("button", "ms-button", words("graph.paint.csv"), { type: "button", "data-save": "painted.csv" }),
    notes: make("p", "ms-muted ms-graph-sums", [], { role: "status" }),
  };
  return { metric, paints, paintAsked: null, paintLanguage: "", paintTurn: 0, paintTimer: 0 };
}

/** @param {Graphs.Page} page */
export function build(page) {
  const parts = page.paints;
  setLabel(parts.log, "title", "graph.paint.log.tip");
  setLabel(parts.csv, "title", "graph.paint.csv.tip");
  for (const name of ["title", "aria-label"]) setLabel(parts.range, name, "graph.paint.step");
  parts.log.addEventListener("click", () => page.change({ log: view.get(page, "log") === "1" ? [] : ["1"] }));
  let timer = 0;
  parts.range.addEventListener("input", () => {
    window.clearTimeout(timer);
    timer = window.setTimeout(() => choose(page, Number(parts.range.value)), WAIT_MS);
  });
  parts.steps.replaceChildren(parts.before, parts.range, parts.after, parts.at);
  page.find(".ms-graph-paint").replaceChildren(parts.source, parts.part, parts.steps, parts.log, parts.csv, parts.bar,
    parts.notes);
}

/**
 * Go to the step before (-1) or after (1).
 * @param {Graphs.Page} page
 * @param {number} by
 */
export function move(page, by) {
  const { painted } = page;
  if (!painted || !painted.steps) return;
  choose(page, painted.steps.indexOf(painted.step) + by);
}

/**
 * @param {Graphs.Page} page
 * @param {number} place
 */
function choose(page, place) {
  const steps = (page.painted && page.painted.steps) || [];
  const step = steps[Math.max(0, Math.min(place, steps.length - 1))];
  if (step !== undefined && page.painted && step !== page.painted.step) page.change({ at: [String(step)] });
}

/**
 * What a request or a file needs to know of the painting; nothing for a graph that is not painted.
 * @param {Graphs.Page} page
 */
export function told(page) {
  const metric = view.get(page, "paint");
  if (!METRICS.includes(metric)) return {};
  /** @type {Record<string, string[]>} */
  const found = { paint: [metric] };
  for (const key of ["by", "part", "at", "log"]) if ((page.state[key] || []).length) found[key] = page.state[key];
  if ((page.state.run || []).length) found.chosen = page.state.run;
  return found;
}

/**
 * Ask for the values of what is drawn, if they are not known.
 * @param {Graphs.Page} page
 * @param {Wire.Query} ask
 */
export function request(page, ask) {
  const { paint } = told(page);
  const choices = [["", translate("graph.paint.none")], ...METRICS.map((name) => [name, translate(`graph.paint.${name}`)])];
  fillSelect(page.metric, choices, paint ? paint[0] : "");
  page.root.classList.toggle("ms-graph-painting", Boolean(paint));
  page.find(".ms-graph-paint").hidden = !paint;
  if (!paint) {
    page.paintAsked = null;
    if (page.painted) draw(page, null);
    return;
  }
  if (!page.drawing || page.drawing.meta.broken) return;
  /** @type {Wire.Query} */
  const wanted = { ...ask, ...told(page), open: page.opened.length ? page.opened : [""] };
  delete wanted.node;
  delete wanted.trace;
  if (same(wanted, page.paintAsked)) {
    if (page.painted && page.paintLanguage !== language()) draw(page, page.painted);
    return;
  }
  page.paintAsked = wanted;
  send(page, wanted);
}

/**
 * @param {Graphs.Page} page
 * @param {Wire.Query} wanted
 */
function send(page, wanted) {
  page.paintTurn = (page.paintTurn || 0) + 1;
  setProps(page.store("paint"), { data: { ...wanted, turn: [String(page.paintTurn)] } });
}

/**
 * Show an answer; null for a graph that is not painted any more.
 * @param {Graphs.Page} page
 * @param {Graphs.Painted | null} answer
 */
export function draw(page, answer) {
  const metric = view.get(page, "paint");
  if (answer && (answer.state === "none" || answer.metric !== metric)) return;
  page.painted = answer;
  page.paintLanguage = language();
  window.clearTimeout(page.paintTimer);
  const asked = page.paintAsked;
  if (answer && WAITING.includes(answer.state)) {
    page.paintTimer = window.setTimeout(() => {
      if (asked && page.paintAsked === asked && page.root.isConnected) send(page, asked);
    }, AGAIN_MS);
  }
  drawControls(page, answer);
  showPlainHtml(page.find(".ms-graph-highest"), (answer && answer.list) || []);
  canvas.paint(page);
}

/**
 * @param {Graphs.Page} page
 * @param {Graphs.Painted | null} answer
 */
function drawControls(page, answer) {
  if (!answer) return;
  const { source, part, steps, range, at, before, after, log, bar, csv, notes } = page.paints;
  const choices = answer.sources.map(([key, label]) => [key, own(label)]);
  fillSelect(source, answer.source ? choices : [["", translate("graph.paint.choose")], ...choices], answer.source);
  source.hidden = answer.sources.length < 1;
  fillSelect(part, answer.parts.map(([name, label]) => [name, own(label)]), answer.part);
  part.hidden = answer.parts.length < 2;
  const place = Math.max(0, answer.steps.indexOf(answer.step));
  steps.hidden = !answer.steps.length;
  range.max = String(Math.max(0, answer.steps.length - 1));
  if (document.activeElement !== range || range.value === "") range.value = String(place);
  else if (Number(range.value) !== place && !page.state.at) range.value = String(place);
  range.hidden = before.hidden = after.hidden = answer.steps.length < 2;
  [before.disabled, after.disabled] = [place <= 0, place >= answer.steps.length - 1];
  const key = answer.step < 0 ? "graph.paint.whole" : "graph.paint.at";
  at.replaceChildren(words(key, { step: answer.step }));
  range.setAttribute("aria-valuetext", translate(key, { step: answer.step }));
  log.setAttribute("aria-pressed", String(view.get(page, "log") === "1"));
  for (const element of [log, bar, csv]) element.hidden = !answer.bar;
  if (answer.bar) drawBar(bar, answer.bar, answer.metric);
  const lines = answer.bar ? [answer.matched, answer.sums, answer.combine] : [];
  if (answer.problem.length) lines.push(answer.problem);
  notes.classList.toggle("ms-wrong-text", answer.state === "failed");
  notes.replaceChildren(...lines.flatMap((line) => [both(line), " · "]).slice(0, -1));
}

/**
 * @param {HTMLElement} bar
 * @param {Graphs.Bar} scale
 * @param {string} metric
 */
function drawBar(bar, scale, metric) {
  const { colours, ticks } = scale;
  const strip = make("div", "ms-graph-strip");
  strip.style.background = `linear-gradient(90deg, ${colours.join(", ")})`;
  const marks = ticks.map(([share, text]) => {
    const mark = make("span", "ms-number", text);
    mark.style.left = `${100 * share}%`;
    mark.style.transform = `translateX(${-100 * share}%)`;
    return mark;
  });
  bar.replaceChildren(strip, make("div", "ms-graph-ticks", marks));
  const name = translate(`graph.paint.${metric}`);
  bar.setAttribute("aria-label", `${name}: ${ticks[0][1]} – ${ticks[ticks.length - 1][1]}`);
  bar.title = name;
}
