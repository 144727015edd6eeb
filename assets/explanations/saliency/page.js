// The saliency page: a row of cards per sample, with a heat map per explainer over its picture. Counterpart of
// layouts/explanations/saliency. cells.js makes what is in a row, map_controls.js the controls of heat maps, large.js the
// enlarged sample.

import { make } from "../../kit/elements.js";
import { count } from "../../kit/units.js";
import { language, writeText } from "../../kit/i18n.js";
import { request } from "../../kit/page_parts.js";
import { notYet } from "../../kit/pages.js";
import { showPlainHtml } from "../../kit/plain_html.js";
import { formatQuery, same } from "../../kit/state.js";
import { drawProgress } from "../../kit/progress.js";
import { drawTotal, tool } from "../bar.js";
import { address, askOf, define, explainersOf, filtersOf, get } from "../explanations.js";
import { tallRows } from "../tall_rows.js";
import { cut, paint, row, sides } from "./cells.js";
import * as large from "./large.js";
import { buildLook, drawLook, lookOf } from "./map_controls.js";

const BLOCK = 100;

/** @returns {Omit<Saliency.Page, keyof Explanations.Page>} */
const fields = () => ({
  rows: notYet, csv: notYet, dialog: notYet, looks: notYet, tables: {}, decoded: {}, side: 0, list: "", filters: {}, of: "",
  shown: "", look: "", listKey: "", settled: false, mark: "", sought: "", sampled: null, pending: 0, enlarged: "",
  enlargedLook: "", looksOf: "",
});

/** @param {Saliency.Page} page */
function build(page) {
  buildLook(page);
  const host = page.find(".ms-saliency-rows");
  page.rows = tallRows(host, {
    block: BLOCK,
    draw: (sample) => row(page, sample),
    drop: cut,
    ask: (first, number) => ask(page, { first: [String(first)], count: [String(number)] }),
  });
  page.csv = tool(page, "download", "saliency.csv", () => {
    const { sort = [], ...filters } = filtersOf(page);
    const order = sort.length && !sort[0].startsWith("disagreement") ? { sort } : {};
    make("a", "", [], { href: address(page, "samples.csv", { ...filters, ...order }), download: "" }).click();
  });
  host.addEventListener("click", (event) => {
    const button = event.target instanceof Element && event.target.closest("[data-act], canvas");
    const around = button && button.closest("[data-sample]");
    if (!around) return;
    const sample = around.dataset.sample;
    if (button.dataset.act === "label") page.change({ sample: [sample], shown: [button.dataset.label] });
    else if (sample === get(page, "sample")) page.change({ large: ["1"] });
    else page.change({ sample: [sample], shown: [], large: ["1"] });
  });
  host.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !(event.target instanceof HTMLElement) || !event.target.matches("[data-sample]")) return;
    enlarge(page, event.target.dataset.sample);
    event.preventDefault();
  });
  new ResizeObserver(() => resize(page)).observe(host);
  large.build(page);
}

/** @param {Saliency.Page} page */
function enlarge(page, sample) {
  page.change(sample === get(page, "sample") ? { large: ["1"] } : { sample: [sample], shown: [], large: ["1"] });
}

/**
 * The question of the rows; the same filters and order make the same list.
 * @param {Saliency.Page} page
 * @param {{ first: string[], count: string[] }} more
 */
function ask(page, more) {
  const sample = page.sought === get(page, "sample") ? {} : { sample: page.state.sample || [] };
  request(page, "rows", askOf(page, { ...sample, ...more }), { fresh: true });
}

/**
 * @param {Saliency.Page} page
 * @param {Wire.Query} [more]
 */
function askLooks(page, more = {}) {
  const { of = [], mark = [] } = askOf(page);
  if (page.looksOf !== page.run.key) page.find(".ms-saliency-looks-said").replaceChildren();
  page.looksOf = page.run.key;
  request(page, "looks", { of, mark, explainer: page.state.explainer || [] }, { more });
}

/** @param {Saliency.Page} page */
function draw(page) {
  askLooks(page);
  const list = formatQuery(askOf(page));
  if (list !== page.list) {
    // Another order or other filters begin at the top; a run that grew stays where it is.
    const grown = page.list && same(filtersOf(page), page.filters) && page.of === page.run.key;
    Object.assign(page, { list, filters: filtersOf(page), of: page.run.key });
    if (!grown) page.rows.top();
    const sample = get(page, "sample");
    const [first] = page.rows.window();
    page.sought = "";
    ask(page, sample && !grown ? { first: ["0"], count: ["0"] } : {
      first: [String(Math.floor(first / BLOCK) * BLOCK)], count: [String(2 * BLOCK)],
    });
  }
  resize(page);
  drawLook(page);
  const { label, predicted, truth, shown: mapped, sample, t } = page.state;
  const shown = JSON.stringify([explainersOf(page), label, predicted, truth, mapped, sample, t, language()]);
  const look = JSON.stringify(lookOf(page, true));
  if (shown !== page.shown) {
    Object.assign(page, { shown, look });
    drawHead(page);
    page.rows.repaint();
  } else if (look !== page.look) {
    page.look = look;
    for (const element of page.rows.elements()) paint(page, element);
  }
  large.draw(page);
}

/** @param {Saliency.Page} page */
function drawHead(page) {
  const picture = writeText(make("span"), "saliency.picture");
  const labels = writeText(make("span"), "saliency.labels");
  const names = explainersOf(page).map((/** @type {string} */ name) => make("span", "ms-cut ms-name", name, { title: name }));
  page.find(".ms-saliency-head").replaceChildren(picture, labels, ...names);
}

/**
 * Sides of pictures follow the width of the page and the number of explainers.
 * @param {Saliency.Page} page
 */
function resize(page) {
  if (!page.listed) return;
  const host = page.find(".ms-saliency-rows");
  const { side, labels, height } = sides(host.clientWidth, explainersOf(page).length);
  host.style.setProperty("--ms-side", `${side}px`);
  host.style.setProperty("--ms-labels", `${labels}px`);
  host.style.setProperty("--ms-explainers", String(explainersOf(page).length));
  page.side = side;
  page.rows.resize(height);
}

/** @type {Record<string, (page: Saliency.Page, answer: any) => void>} */
const answers = {
  rows(page, answer) {
    drawProgress(page.find(".ms-saliency-status"), answer, (more) => request(page, "rows", askOf(page, {
      first: ["0"], count: [String(BLOCK)],
    }), { more }));
    if (!answer.rows) return;
    // While the order is being computed, the rows on screen stay as they are.
    const settled = answer.state === "ready";
    const fresh = page.listKey !== page.list || page.settled !== settled || page.mark !== answer.mark;
    if (!fresh && !settled && page.rows.row(answer.first)) return;
    Object.assign(page, { listKey: page.list, settled, mark: answer.mark });
    page.rows.put(answer, fresh);
    drawTotal(page, answer.total, answer.all);
    page.find(".ms-saliency-empty").hidden = answer.total > 0;
    const unreadable = page.find(".ms-saliency-unreadable");
    unreadable.hidden = !answer.unreadable;
    writeText(unreadable, "saliency.unreadable", { n: count(answer.unreadable) });
    if (page.sought !== get(page, "sample") && answer.place >= 0) page.rows.seek(answer.place);
    page.sought = get(page, "sample");
  },

  looks(page, answer) {
    drawProgress(page.find(".ms-saliency-looks-status"), answer, (more) => askLooks(page, more));
    if (answer.said) showPlainHtml(page.find(".ms-saliency-looks-said"), answer.said);
    else if (answer.state === "missing" || answer.state === "failed") page.find(".ms-saliency-looks-said").replaceChildren();
    resize(page);
  },

  sample: large.take,
};

// j and k step through samples, Enter enlarges; where no dialog is open.
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  if (document.querySelector("dialog[open]")) return;
  const target = event.target instanceof Element ? event.target : null;
  if (target && target.closest("input, select, textarea, summary")) return;
  const root = document.querySelector(".ms-shell .ms-saliency") || (target && target.closest(".ms-saliency"));
  const page = root && pageOf(root.id);
  if (!page || !page.listed) return;
  const by = { j: 1, k: -1 }[event.key];
  if (!by && event.key !== "f") return;
  event.preventDefault();
  event.stopImmediatePropagation();
  if (event.key === "f") {
    const [first] = page.rows.window();
    const sample = get(page, "sample") || (page.rows.row(first) && String(page.rows.row(first).id));
    if (sample) enlarge(page, sample);
  } else step(page, by);
}, true);

/**
 * Choose the next sample of the list, from the chosen one or the top of the screen.
 * @param {Saliency.Page} page
 * @param {number} [by]
 */
function step(page, by) {
  const [first] = page.rows.window();
  const chosen = get(page, "sample");
  let now = -1;
  for (let number = 0; chosen && number < page.rows.total; number += 1) {
    const there = page.rows.row(number);
    if (there && String(there.id) === chosen) {
      now = number;
      break;
    }
  }
  const next = now < 0 ? first : Math.min(page.rows.total - 1, Math.max(0, now + by));
  const sample = page.rows.row(next);
  if (!sample) return page.rows.seek(next);
  page.sought = String(sample.id);
  page.change({ sample: [String(sample.id)], shown: [] });
  page.rows.seek(next);
  const element = page.rows.element(next);
  if (element) element.focus({ preventScroll: true });
  return undefined;
}

const pageOf = define("saliency", { fields, build, draw, answers });
