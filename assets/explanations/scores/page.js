// The scores page: table with weights and totals, radar, bars by label. Counterpart of layouts/explanations/scores.

import { icon, make, option, pressSegment, segments, select, words } from "../../kit/elements.js";
import { language, setLabel, translate } from "../../kit/i18n.js";
import { request } from "../../kit/page_parts.js";
import { notYet } from "../../kit/pages.js";
import { plotCards } from "../../kit/plot_cards.js";
import { showPlainHtml } from "../../kit/plain_html.js";
import { currentPrefs } from "../../kit/prefs.js";
import { address, define, get } from "../explanations.js";
import { labelPicker } from "../labels.js";
import { changedWeights, hundredths } from "./weights.js";

const SIDES = ["metric", "explainer"];
const ORDERS = ["label", "worst", "spread"];

const plots = plotCards((rootId) => pageOf(rootId), (page) => page.run.name, (page) => Boolean(page.listed));

// Building ----------------------------------------------------------------------------------------------------------

/** @returns {Omit<Scores.Page, keyof Explanations.Page>} */
const fields = () => ({
  weights: [], reset: notYet, sides: notYet, one: notYet, order: notYet, shown: notYet,
});

/** @param {Scores.Page} page */
function build(page) {
  plots.furnish(page);
  page.clear.remove();
  /**
   * @param {string} key
   * @param {string} first
   */
  const choose = (key, first) => (value) => page.change({ [key]: value === first ? [] : [value] });
  page.reset = make("button", "ms-button ms-button-quiet", [icon("refresh"), words("scores.reset")], { type: "button" });
  page.reset.addEventListener("click", () => page.change({ weight: [] }));
  page.find(".ms-scores-tools").append(page.reset);
  page.sides = segments("scores.side", SIDES.map((one) => [one, `scores.side.${one}`]),
    (value) => page.change({ side: value === SIDES[0] ? [] : [value], one: [] }));
  page.one = select("scores.one.metric", (value) => page.change({ one: [value] }));
  page.order = select("scores.order", choose("order", ORDERS[0]));
  page.order.append(...ORDERS.map((name) => option(name, `scores.order.${name}`)));
  page.shown = labelPicker("labels", (values) => page.change({ show: values }), 2);
  const save = make("button", "ms-button ms-button-quiet", [icon("download"), words("scores.csv")],
    { type: "button", "data-act": "csv" });
  page.find("[data-plot=labels] .ms-card-badges").append(page.sides, page.one, page.order, page.shown.element, save);
  page.root.addEventListener("click", (event) => {
    const target = event.target instanceof Element ? event.target : null;
    const saved = target && target.closest("[data-act=csv]");
    if (saved) download(page, saved.closest("[data-card], [data-plot]"));
  });
}

/** @param {Scores.Page} page */
function download(page, card) {
  const whole = card.dataset.card === "table";
  window.location.assign(whole
    ? address(page, "scores.csv", { weight: page.state.weight || [] })
    : address(page, "frame.csv", { name: "scores" }));
}

/**
 * The inputs of the row of weights; they hold numbers from 0 to 1.
 * @param {Scores.Page} page
 */
function furnishWeights(page) {
  const hosts = Array.from(page.root.querySelectorAll("[data-weight]"));
  page.weights = hosts.map((host) => [host.dataset.weight, Number(host.dataset.value)]);
  for (const host of hosts) {
    const input = make("input", "ms-input ms-scores-weight", [],
      { type: "number", min: "0", max: "1", step: "0.01", "data-metric": host.dataset.weight });
    input.value = String(Number(host.dataset.value) / 100);
    for (const name of ["aria-label", "title"]) setLabel(input, name, "scores.weight_of", { metric: host.dataset.weight });
    input.addEventListener("change", () => {
      const value = hundredths(input.value);
      if (value === null) input.value = String(Number(host.dataset.value) / 100);
      else page.change({ weight: changedWeights(page.weights, host.dataset.weight, value) });
    });
    host.replaceChildren(input);
  }
}

// Drawing -----------------------------------------------------------------------------------------------------------

/** @param {Scores.Page} page */
function draw(page) {
  plots.drawFull(page);
  pressSegment(page.sides, get(page, "side", SIDES[0]));
  page.order.value = get(page, "order", ORDERS[0]);
  page.shown.draw(page.listed.labels, page.state.show || []);
  page.reset.hidden = !(page.state.weight || []).length;
  const theme = currentPrefs().theme === "dark" ? { theme: ["dark"] } : {};
  /** @param {...string} keys */
  const ask = (...keys) => ({
    of: [page.run.key], mark: [page.listed.mark], lang: [language()], ...theme,
    ...Object.fromEntries(keys.map((key) => [key, page.state[key] || []]).filter(([, values]) => values.length)),
  });
  request(page, "scores", ask("explainer", "weight", "by"));
  request(page, "labels", ask("explainer", "side", "one", "order", "show"));
}

/** @param {Scores.Page} page */
function fill(page, sections) {
  for (const [name, content] of Object.entries(sections || {})) showPlainHtml(page.find(`[data-section="${name}"]`), content);
}

/** @type {Record<string, (page: Scores.Page, answer: any) => void>} */
const answers = {
  scores(page, answer) {
    if (answer.state !== "ready") return;
    page.find(".ms-scores-none").hidden = answer.any;
    page.find(".ms-scores-cards").hidden = !answer.any;
    if (!answer.any) return;
    const within = document.activeElement instanceof HTMLElement && page.root.contains(document.activeElement);
    const metric = within ? document.activeElement.dataset.metric : "";
    const open = page.find(".ms-scores-about[open]");
    fill(page, answer.sections);
    if (open) page.find(".ms-scores-about").open = true;
    furnishWeights(page);
    plots.place(page, "radar", "radar-plot", answer.figure);
    // The element with the focus was made anew.
    const again = metric && page.find(`[data-metric="${CSS.escape(metric)}"]`);
    if (again) again.focus({ preventScroll: true });
  },

  labels(page, answer) {
    if (answer.state !== "ready") return;
    fill(page, answer.sections);
    drawOne(page, answer);
    const card = page.find("[data-plot=labels]");
    plots.place(page, "labels", "labels-plot", answer.figure);
    // Without scores by label the card says so.
    card.hidden = false;
    card.classList.toggle("ms-scores-empty", !answer.figure);
    // Of the plot, whatever its head takes, which has several rows on a narrow screen.
    card.querySelector(".ms-card-body").style.height = answer.figure ? `${answer.figure.layout.meta.height}px` : "";
  },
};

/**
 * The select of metrics, of which those without scores by label cannot be chosen, or of explainers.
 * @param {Scores.Page} page
 */
function drawOne(page, { metrics, explainers, chosen }) {
  const side = get(page, "side", SIDES[0]);
  for (const name of ["title", "aria-label"]) setLabel(page.one, name, `scores.one.${side}`);
  const choices = side === "metric" ? metrics : explainers.map((/** @type {string} */ name) => [name, true]);
  page.one.replaceChildren(...choices.map(([name, able]) => {
    const element = make("option", "", able ? name : `${name}: ${translate("scores.whole")}`, { value: name });
    element.disabled = !able;
    return element;
  }));
  page.one.value = chosen;
}

const pageOf = define("scores", { fields, build, draw, answers });

plots.keys("ms-scores");
