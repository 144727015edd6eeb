// The counterfactual page: a list of samples, and one of them with its layers. Counterpart of
// layouts/explanations/counterfactual.

import { make, takesText, words } from "../../kit/elements.js";
import { language, setLabel, translate, writeText } from "../../kit/i18n.js";
import { request } from "../../kit/page_parts.js";
import { notYet } from "../../kit/pages.js";
import { plotCards } from "../../kit/plot_cards.js";
import { currentPrefs } from "../../kit/prefs.js";
import { last } from "../../kit/state.js";
import { rowList } from "../../dumps/rows.js";
import { drawTotal, tool } from "../bar.js";
import { address, askOf, define, filtersOf, get, labelName, linkTo } from "../explanations.js";
import { probabilities, probability, shareText } from "./numbers.js";

const ROW = 64;
const WAIT_MS = 300;  // until a plot has been drawn

const plots = plotCards((rootId) => pageOf(rootId), (page) => page.run.name, (page) => Boolean(page.listed));

// Building ----------------------------------------------------------------------------------------------------------

/** @returns {Omit<Counterfactual.Page, keyof Explanations.Page>} */
const fields = () => ({
  list: notYet, hide: notYet, filters: "", detail: null,
});

/** @param {Counterfactual.Page} page */
function build(page) {
  plots.furnish(page);
  page.list = rowList(page.find(".ms-counterfactual-list"), {
    height: ROW,
    draw: (row) => line(page, row),
    ask: (first, count) => askRows(page, first, count, true),
  });
  const box = make("input", "", [], { type: "checkbox" });
  box.addEventListener("change", () => page.change({ empty: box.checked ? [] : ["1"] }));
  page.hide = box;
  const hide = make("label", "ms-field ms-counterfactual-hide", [box, words("counterfactual.hide")]);
  setLabel(hide, "title", "counterfactual.hide.tip");
  page.tools.before(hide);
  tool(page, "download", "counterfactual.csv", () => {
    window.location.assign(address(page, "counterfactuals.csv", filtersOf(page)));
  });
  page.root.addEventListener("click", (event) => pressed(page, event));
  page.root.addEventListener("keydown", (event) => alongStrip(page, event));
  page.root.addEventListener("error", (event) => missing(event), true);
}

/** @param {Counterfactual.Page} page */
function pressed(page, event) {
  const target = event.target instanceof Element ? event.target : null;
  if (!target) return;
  const sample = target.closest("[data-sample]");
  if (sample) choose(page, sample.dataset.sample);
  const label = target.closest("[data-label]");
  if (label) page.change({ shown: [label.dataset.label], layer: [] });
  const layer = target.closest("[data-layer]");
  if (layer) page.change({ layer: [layer.dataset.layer] });
  const step = target.closest("[data-step]");
  if (step) move(page, step.dataset.step);
}

/** @param {Counterfactual.Page} page */
function choose(page, sample) {
  page.change({ sample: [String(sample)], shown: [], layer: [] });
}

/** @param {Counterfactual.Page} page */
function move(page, which) {
  const { detail } = page;
  if (!detail || detail[which] === null) return false;
  choose(page, detail[which]);
  return true;
}

/**
 * Arrow keys move along the strip of layers.
 * @param {Counterfactual.Page} page
 */
function alongStrip(page, event) {
  const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
  const from = step && event.target instanceof Element && event.target.closest("[data-layer]");
  if (!from) return;
  const buttons = Array.from(page.root.querySelectorAll("[data-layer]"));
  const next = buttons[buttons.indexOf(from) + step];
  event.preventDefault();
  event.stopPropagation();
  if (!next) return;
  next.focus();
  page.change({ layer: [next.dataset.layer] });
}

// A small picture that cannot be shown; errors do not bubble.
function missing(event) {
  if (!(event.target instanceof HTMLImageElement) || event.target.dataset.picture !== "small") return;
  event.target.replaceWith(make("span", `${event.target.className} ms-muted`, "–"));
}

// Asking ------------------------------------------------------------------------------------------------------------

/** @param {Counterfactual.Page} page */
const emptyOf = (page) => (get(page, "empty") ? { empty: ["1"] } : {});

/** @param {Counterfactual.Page} page */
function askRows(page, first, count, fresh = false) {
  request(page, "rows", askOf(page, { ...emptyOf(page), first: [String(first)], count: [String(count)] }), { fresh });
}

/** @param {Counterfactual.Page} page */
function draw(page) {
  plots.drawFull(page);
  page.hide.checked = !get(page, "empty");
  const filters = JSON.stringify(askOf(page, emptyOf(page)));
  if (page.filters !== filters) {
    page.filters = filters;
    page.list.reset();
    askRows(page, ...page.list.window());
  } else page.list.repaint();
  const theme = currentPrefs().theme === "dark" ? { theme: ["dark"] } : {};
  const more = Object.fromEntries(["sample", "shown", "layer"].filter((key) => (page.state[key] || []).length)
    .map((key) => [key, page.state[key]]));
  request(page, "sample", askOf(page, { ...emptyOf(page), ...more, ...theme, lang: [language()] }));
}

/** @type {Record<string, (page: Counterfactual.Page, answer: any) => void>} */
const answers = {
  rows(page, answer) {
    if (answer.state !== "ready") return;
    page.find(".ms-counterfactual-none").hidden = answer.any;
    page.find(".ms-counterfactual-body").hidden = !answer.any;
    drawTotal(page, answer.total, answer.all);
    page.list.put(answer, answer.first > 0);
    const nothing = page.find(".ms-counterfactual-nothing");
    nothing.hidden = answer.total > 0;
    writeText(nothing, answer.hidden ? "counterfactual.none_left" : "counterfactual.none_match");
    seek(page);
  },

  sample(page, answer) {
    if (answer.state !== "ready") return;
    const other = !page.detail || !answer.sample || !page.detail.sample || page.detail.sample.id !== answer.sample.id;
    page.detail = answer;
    drawDetail(page);
    page.list.repaint();
    if (other) seek(page);
  },
};

/** @param {Counterfactual.Page} page */
function seek(page) {
  if (page.detail && page.detail.at >= 0) page.list.seek(page.detail.at);
}

// The list ----------------------------------------------------------------------------------------------------------

/** @param {Counterfactual.Page} page */
function line(page, row) {
  const [id, hasPicture, label, outcome, recorded, kept, layers] = row;
  const picture = hasPicture
    ? make("img", "ms-counterfactual-thumb", [], {
        src: address(page, "image", { sample: id }), alt: "", loading: "lazy", "data-picture": "small",
      })
    : make("span", "ms-counterfactual-thumb ms-muted", "–");
  const said = [make("span", "ms-counterfactual-id", words("counterfactual.sample", { n: id }))];
  if (label >= 0) said.push(make("span", "ms-cut ms-name", labelName(page, label)), ...mark(outcome));
  const numbers = layers
    ? make("span", "ms-number", probabilities([recorded, kept]).join(" → "))
    : words("counterfactual.count_none", {}, "span", "ms-muted");
  const chosen = page.detail && page.detail.sample && page.detail.sample.id === id;
  return make("button", "ms-counterfactual-line", [
    picture,
    make("span", "ms-counterfactual-said", [make("span", "ms-counterfactual-first", said), numbers]),
  ], { type: "button", "data-sample": id, "aria-current": String(Boolean(chosen)) });
}

function mark(outcome) {
  if (!outcome) return [];
  const element = make("span", `ms-outcome ms-outcome-${outcome}`, outcome);
  setLabel(element, "title", `explanations.${outcome.toLowerCase()}.tip`);
  return [element];
}

// One sample --------------------------------------------------------------------------------------------------------

/** @param {Counterfactual.Page} page */
function drawDetail(page) {
  const { sample, label, layer, figure } = page.detail;
  const name = page.find(".ms-counterfactual-name");
  for (const step of page.root.querySelectorAll("[data-step]")) step.disabled = page.detail[step.dataset.step] === null;
  page.find(".ms-counterfactual-detail").hidden = !sample && !get(page, "sample");
  plots.place(page, "curve", "plot", figure);
  listen(page);
  const shown = sample && sample.labels.find((one) => one.label === label);
  page.find(".ms-counterfactual-labels").replaceChildren(...(sample ? sample.labels.map((one) => pick(page, one)) : []));
  page.find(".ms-counterfactual-links").replaceChildren(...(sample ? [saliency(page, sample)] : []));
  if (!sample) {
    const wanted = get(page, "sample");
    writeText(name, "counterfactual.sample", { n: wanted });
    tell(page, words("counterfactual.unknown_sample", { n: wanted }));
    return;
  }
  writeText(name, "counterfactual.sample", { n: sample.id });
  if (!shown) {
    tell(page, words("counterfactual.none_of_sample"), sample.image ? [original(page, sample)] : []);
    return;
  }
  const of = shown.layers.find(([number]) => number === layer);
  const [after, before] = probabilities([of[1], shown.recorded]);
  const values = { share: shareText(of[3]), label: labelName(page, shown.label), after, before };
  const key = shown.recorded === null ? "counterfactual.kept_alone" : "counterfactual.kept";
  tell(page, words(key, values), pictures(page, sample, shown, of), strip(page, sample, shown, layer));
  if (sample.problem) {
    page.find(".ms-counterfactual-sentence").append(make("span", "ms-counterfactual-problem", ` ${sample.problem}`));
  }
}

/**
 * A point of the curve chooses its layer; the first one is the whole picture.
 * @param {Counterfactual.Page} page
 */
function listen(page) {
  const plot = page.find(".ms-counterfactual-curve .js-plotly-plot");
  if (!plot || !plot.on) {
    if (page.root.isConnected) window.setTimeout(() => listen(page), WAIT_MS);
    return;
  }
  if (plot.dataset.listens) return;
  plot.dataset.listens = "1";
  plot.on("plotly_click", ({ points: [point] }) => {
    if (point && point.customdata >= 0) page.change({ layer: [String(point.customdata)] });
  });
}

/** @param {Counterfactual.Page} page */
function tell(page, sentence, drawn = [], layers = []) {
  page.find(".ms-counterfactual-sentence").replaceChildren(sentence);
  page.find(".ms-counterfactual-pictures").replaceChildren(...drawn);
  const host = page.find(".ms-counterfactual-strip");
  const focused = host.contains(document.activeElement) && last({ at: [document.activeElement.dataset.layer] }, "at", "");
  host.replaceChildren(...layers);
  host.hidden = !layers.length;
  if (focused) host.querySelector(`[data-layer="${focused}"]`)?.focus({ preventScroll: true });
}

/** @param {Counterfactual.Page} page */
function pick(page, one) {
  const button = make("button", "ms-button", [make("span", "ms-cut ms-name", labelName(page, one.label)),
    make("span", "ms-number", probability(one.recorded)), ...mark(one.outcome)], { type: "button", "data-label": one.label });
  button.setAttribute("aria-pressed", String(one.label === page.detail.label));
  if (one.truth) setLabel(button, "title", "counterfactual.true");
  return button;
}

/** @param {Counterfactual.Page} page */
function saliency(page, sample) {
  return make("a", "ms-button ms-button-quiet", words("counterfactual.open_saliency"),
    linkTo(page, "saliency", { sample: [String(sample.id)] }));
}

// A picture, or why there is none.
function frame(sample, src, alt) {
  if (!sample.image) return words("counterfactual.unrecorded_picture", {}, "span", "ms-counterfactual-missing");
  const picture = make("img", "ms-counterfactual-picture", [], { src, alt });
  picture.addEventListener("error", () => {
    picture.replaceWith(words("counterfactual.no_picture", {}, "span", "ms-counterfactual-missing"));
  });
  return picture;
}

/** @param {Counterfactual.Page} page */
function original(page, sample) {
  const src = address(page, "image", { sample: sample.id });
  const picture = frame(sample, src, translate("counterfactual.picture_of", { n: sample.id }));
  return make("figure", "ms-counterfactual-figure", [picture, words("counterfactual.original", {}, "figcaption", "ms-muted")]);
}

/** @param {Counterfactual.Page} page */
const outcomeOf = (page, sample, shown, layer, more = {}) => (
  address(page, "outcome", { sample: sample.id, label: shown.label, layer, ...more }));

/**
 * @param {Counterfactual.Page} page
 * @param {Counterfactual.Sample} sample
 * @param {Counterfactual.Explained} shown
 * @param {Counterfactual.Layer} layer
 */
function pictures(page, sample, shown, [layer, , boxes]) {
  const drawn = [original(page, sample)];
  if (!shown.drawable) return [...drawn, words("counterfactual.unknown_mask", { mask: shown.mask }, "p", "ms-muted")];
  if (!sample.image) return drawn;
  const alt = translate("counterfactual.outcome_of", { n: sample.id, layer });
  const picture = frame(sample, outcomeOf(page, sample, shown, layer), alt);
  const said = boxes
    ? words("counterfactual.boxes", { boxes: boxes.split(";").join("; ") })
    : words("counterfactual.no_boxes");
  const save = make("a", "ms-button ms-button-icon ms-button-quiet", make("span", "ms-icon ms-icon-download"), {
    href: outcomeOf(page, sample, shown, layer, { download: 1 }), download: "",
  });
  for (const name of ["title", "aria-label"]) setLabel(save, name, "counterfactual.save");
  const caption = make("figcaption", "ms-muted", [words("counterfactual.layer", { n: layer }), save, said]);
  return [...drawn, make("figure", "ms-counterfactual-figure", [picture, caption])];
}

/** @param {Counterfactual.Page} page */
function strip(page, sample, shown, chosen) {
  const numbers = probabilities(shown.layers.map((one) => one[1]));
  return shown.layers.map(([number, , , share], place) => {
    const picture = sample.image && shown.drawable
      ? make("img", "ms-counterfactual-small", [], {
          src: outcomeOf(page, sample, shown, number), alt: "", loading: "lazy", "data-picture": "small",
        })
      : make("span", "ms-counterfactual-small");
    const button = make("button", "ms-counterfactual-layer", [
      picture, words("counterfactual.layer", { n: number }), make("span", "ms-number", numbers[place]),
      words("counterfactual.visible", { share: shareText(share) }, "span", "ms-muted"),
    ], { type: "button", "data-layer": number });
    button.setAttribute("aria-pressed", String(number === chosen));
    return button;
  });
}

const pageOf = define("counterfactual", { fields, build, draw, answers });

plots.keys("ms-counterfactual");

// j and k step through samples here, before they go from card to card.
document.addEventListener("keydown", (event) => {
  const which = { j: "next", k: "previous" }[event.key];
  if (!which || event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  if (document.querySelector("dialog[open]") || takesText(event.target)) return;
  const target = event.target instanceof Element ? event.target : null;
  const root = document.querySelector(".ms-shell .ms-counterfactual") || (target && target.closest(".ms-counterfactual"));
  const page = root && pageOf(root.id);
  if (!page || !page.listed || get(page, "full")) return;
  event.preventDefault();
  event.stopImmediatePropagation();
  move(page, which);
}, true);
