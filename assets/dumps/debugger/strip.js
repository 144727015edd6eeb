// The strip of executions: a cell for each run of a root graph, in the order they ran. Cells on screen are made.

import { make } from "../../kit/elements.js";
import { count } from "../../kit/units.js";
import { translate } from "../../kit/i18n.js";
import { nearest } from "../../kit/number_picker.js";

const CELL = 22;
const HUES = 6;

/** @returns {Debugger.StripFields} */
export const fields = () => ({ runs: null, cells: make("div", "ms-debugger-cells"), shownStep: null });

/** @param {Debugger.Page} page */
export function build(page) {
  const host = page.find(".ms-debugger-strip");
  host.replaceChildren(page.cells);
  host.addEventListener("scroll", () => paint(page), { passive: true });
  new ResizeObserver(() => paint(page)).observe(host);
  host.addEventListener("keydown", (event) => {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!by) return;
    move(page, by);
    event.preventDefault();
  });
}

/** @param {Debugger.Page} page */
export function take(page, answer) {
  page.runs = answer.state === "ready" ? answer : null;
  page.shownStep = null;
  draw(page);
}

/**
 * Go to the next execution with data, or the one before.
 * @param {Debugger.Page} page
 * @param {number} by
 */
export function move(page, by) {
  const steps = page.listed ? page.listed.steps : [];
  const next = steps[nearest(steps, page.step) + by];
  if (next !== undefined) page.change({ step: [String(next)] });
}

/** @param {Debugger.Page} page */
export function draw(page) {
  const host = page.find(".ms-debugger-strip");
  host.hidden = !page.runs || page.runs.step.length < 2;
  if (host.hidden) return;
  page.cells.style.width = `${page.runs.step.length * CELL}px`;
  if (page.shownStep !== page.step) {
    page.shownStep = page.step;
    const place = page.runs.step.indexOf(page.step);
    const left = place * CELL;
    if (place >= 0 && (left < host.scrollLeft || left + CELL > host.scrollLeft + host.clientWidth)) {
      host.scrollLeft = left - host.clientWidth / 2;
    }
  }
  paint(page);
}

/** @param {Debugger.Page} page */
function paint(page) {
  if (!page.runs || !page.listed) return;
  const host = page.find(".ms-debugger-strip");
  const begin = Math.max(0, Math.floor(host.scrollLeft / CELL) - 2);
  const end = Math.min(page.runs.step.length, begin + Math.ceil(host.clientWidth / CELL) + 5);
  const bad = new Map((page.health ? page.health.bad : []).filter(([rank]) => rank === page.rank)
    .map(([, step, many, of]) => [step, [many, of]]));
  const hits = new Map((page.hits ? page.hits.steps : []).filter(([rank]) => rank === page.rank)
    .map(([, step, many]) => [step, many]));
  const graphs = [...new Set(page.runs.graph)];
  const cells = [];
  for (let place = begin; place < end; place += 1) cells.push(cell(page, place, bad, hits, graphs));
  page.cells.replaceChildren(...cells);
}

/**
 * @param {Debugger.Page} page
 * @param {number} place
 */
function cell(page, place, bad, hits, graphs) {
  const { step: steps, graph, tensors } = page.runs;
  const step = steps[place];
  const made = make("button", "ms-debugger-cell", String(step), { type: "button", role: "option", tabindex: "-1" });
  made.style.left = `${place * CELL}px`;
  made.dataset.graph = String(graphs.indexOf(graph[place]) % HUES);
  made.classList.toggle("ms-debugger-cell-empty", !tensors[place]);
  made.classList.toggle("ms-debugger-cell-bad", bad.has(step));
  made.classList.toggle("ms-debugger-cell-hit", hits.has(step));
  made.setAttribute("aria-selected", String(step === page.step));
  const parts = [translate("debugger.strip.step", { n: count(step) })];
  if (graph[place] >= 0) parts.push(translate("debugger.strip.graph", { n: graph[place] }));
  const within = page.runs.with[step] || [];
  if (within.length) parts.push(translate("debugger.strip.with", { graphs: within.join(", ") }));
  parts.push(tensors[place] ? translate("debugger.strip.tensors", { n: count(tensors[place]) })
    : translate("debugger.strip.empty"));
  if (bad.has(step)) parts.push(translate("debugger.strip.bad", { n: count(bad.get(step)[0]), of: count(bad.get(step)[1]) }));
  if (hits.has(step)) parts.push(translate("debugger.strip.hits", { n: count(hits.get(step)) }));
  made.title = parts.join(" · ");
  made.setAttribute("aria-label", made.title);
  made.disabled = !tensors[place];
  made.addEventListener("click", () => page.change({ step: [String(step)] }));
  return made;
}
