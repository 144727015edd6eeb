// The uncertainty page: distribution of deviations, these over the probabilities, and tables. Counterpart of
// layouts/explanations/uncertainty.

import { badge, icon, make, takesText, words } from "../../kit/elements.js";
import { count } from "../../kit/units.js";
import { language, setLabel, translations } from "../../kit/i18n.js";
import { go } from "../../kit/navigation.js";
import { request } from "../../kit/page_parts.js";
import { notYet } from "../../kit/pages.js";
import { showPlainHtml } from "../../kit/plain_html.js";
import { plotCards } from "../../kit/plot_cards.js";
import { currentPrefs } from "../../kit/prefs.js";
import { drawTotal, tool } from "../bar.js";
import { address, askOf, define, filtersOf, get, linkTo } from "../explanations.js";
import { chosenRange, ends, range } from "./selection.js";

const WAIT_MS = 300;  // until a plot has been drawn
const FIELDS = [["p", "1"], ["sd", ""]];

const plots = plotCards((rootId) => pageOf(rootId), (page) => page.run.name, (page) => Boolean(page.listed));

/** @returns {Omit<Uncertainty.Page, keyof Explanations.Page>} */
const fields = () => ({
  fields: new Map(), everything: notYet, there: notYet,
});

/** @param {Uncertainty.Page} page */
function build(page) {
  plots.furnish(page);
  tool(page, "download", "uncertainty.csv", () => {
    window.location.assign(address(page, "samples.csv", { ...filtersOf(page), sort: ["uncertainty"] }));
  });
  page.fields = new Map(FIELDS.map(([key, most]) => [key, ["from", "to"].map((end) => field(page, key, end, most))]));
  page.everything = make("button", "ms-button ms-button-quiet", [icon("cross"), words("uncertainty.all")], { type: "button" });
  page.everything.addEventListener("click", () => clear(page));
  page.there = make("a", "ms-button ms-button-quiet", words("uncertainty.show_all"));
  /** @param {string} key */
  const named = (key) => words(`uncertainty.${key}`, {}, "span", "ms-field-name");
  const fields = FIELDS.map(([key]) => {
    const [from, to] = page.fields.get(key);
    return make("span", "ms-field", [named(key), from, words("uncertainty.until"), to]);
  });
  page.find(".ms-uncertainty-fields").replaceChildren(
    words("uncertainty.choose", {}, "span", "ms-muted"), ...fields, page.everything, page.there);
  page.root.addEventListener("error", missing, true);
}

// A picture that cannot be shown; errors do not bubble.
function missing(event) {
  const picture = event.target instanceof HTMLImageElement && event.target.closest(".ms-uncertainty-thumb");
  if (picture) picture.replaceWith(make("span", "ms-uncertainty-thumb ms-muted", "–"));
}

/**
 * @param {Uncertainty.Page} page
 * @param {string} key
 * @param {string} end
 * @param {string} most
 */
function field(page, key, end, most) {
  const input = make("input", "ms-input ms-uncertainty-field", [], { type: "number", min: "0", max: most, step: "any" });
  const [english, chinese] = translations(`uncertainty.${key}`);
  setLabel(input, "aria-label", `uncertainty.${end}`, { what: language() === "zh" ? chinese : english });
  input.addEventListener("change", () => {
    const values = page.fields.get(key).map((one) => one.value);
    page.change({ [key]: range(key, values[0], values[1]) });
  });
  return input;
}

/** @param {Uncertainty.Page} page */
function clear(page) {
  page.change({ p: [], sd: [] });
}

/** @param {Uncertainty.Page} page */
function draw(page) {
  plots.drawFull(page);
  page.find(".ms-uncertainty-none").hidden = page.listed.uncertain;
  page.find(".ms-uncertainty-body").hidden = !page.listed.uncertain;
  if (!page.listed.uncertain) return;
  const theme = currentPrefs().theme === "dark" ? { theme: ["dark"] } : {};
  const asked = { ...askOf(page), sort: [] };
  request(page, "plots", { ...asked, ...theme, lang: [language()] });
  request(page, "tables", asked);
  for (const [key, inputs] of page.fields) {
    const values = ends(get(page, key));
    for (const [place, input] of inputs.entries()) if (document.activeElement !== input) input.value = values[place];
  }
  page.everything.hidden = !get(page, "p") && !get(page, "sd");
  const link = linkTo(page, "saliency");
  for (const [name, value] of Object.entries(link)) page.there.setAttribute(name, value);
}

/** @type {Record<string, (page: Uncertainty.Page, answer: any) => void>} */
const answers = {
  plots(page, answer) {
    if (answer.state !== "ready") return;
    drawTotal(page, answer.total, answer.all);
    fill(page, answer.sections);
    for (const name of ["spread", "against"]) {
      plots.place(page, name, name, answer[name]);
      listen(page, name);
    }
    const thinned = answer.drawn < answer.points;
    const values = { n: count(answer.drawn), total: count(answer.points) };
    page.find("[data-plot=against] .ms-card-badges").replaceChildren(
      ...(thinned ? [badge("uncertainty.thinned", values, "uncertainty.thinned.tip")] : []));
  },

  tables(page, answer) {
    if (answer.state !== "ready") return;
    fill(page, answer.sections);
    const titles = answer.intervals ? ["widest", "narrowest"] : ["highest", "lowest"];
    for (const [place, name] of ["widest", "narrowest"].entries()) {
      page.find(`[data-list=${name}] .ms-card-title`).replaceChildren(words(`uncertainty.${titles[place]}`));
    }
  },
};

/** @param {Uncertainty.Page} page */
function fill(page, sections) {
  for (const [name, content] of Object.entries(sections)) showPlainHtml(page.find(`[data-section="${name}"]`), content);
}

/**
 * A selection in a plot chooses; a bar chooses its bin, a point opens its sample.
 * @param {Uncertainty.Page} page
 * @param {string} name
 */
function listen(page, name) {
  const plot = page.find(`[data-plot=${name}] .js-plotly-plot`);
  if (!plot || !plot.on) {
    if (page.root.isConnected) window.setTimeout(() => listen(page, name), WAIT_MS);
    return;
  }
  if (plot.dataset.listens) return;
  plot.dataset.listens = "1";
  setLabel(plot, "title", "uncertainty.select_tip");
  plot.on("plotly_selected", (chosen) => {
    if (chosen && chosen.range) page.change(chosenRange(name, chosen.range, plot.layout.meta.logarithmic));
  });
  for (const event of ["plotly_deselect", "plotly_doubleclick"]) {
    plot.on(event, () => {
      if (get(page, "p") || get(page, "sd")) clear(page);
    });
  }
  plot.on("plotly_click", ({ points: [point] }) => {
    if (!point || point.customdata === undefined) return;
    if (name === "spread") page.change({ sd: range("sd", String(point.customdata[0]), String(point.customdata[1])) });
    else if (document.querySelector(".ms-shell")) go("saliency", { of: [page.run.key], sample: [String(point.customdata)] });
  });
}

const pageOf = define("uncertainty", { fields, build, draw, answers });

plots.keys("ms-uncertainty", (page, event) => {
  if (event.key !== "Escape" || takesText(event.target) || (!get(page, "p") && !get(page, "sd"))) return false;
  clear(page);
  return true;
});
