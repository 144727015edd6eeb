// Pairs of runs that differ in one setting, with links to both.

import { coloursOf } from "../../kit/colours.js";
import { icon, make, words } from "../../kit/elements.js";
import { pagesOf } from "../../kit/grid.js";
import { inLanguage, setLabel } from "../../kit/i18n.js";
import { nameElement } from "../../kit/name_elements.js";
import { Names } from "../../kit/names.js";
import { count } from "../../kit/units.js";
import { cut } from "../columns.js";
import { named, targetLabel } from "./settings.js";

/**
 * @param {Lineage.ResultPage} page
 * @param {string} key
 * @param {Names} names of all pairs
 */
export function runOf(page, key, names) {
  const all = page.runs ? page.runs.rows : [];
  const row = all.find(({ members }) => members.includes(key));
  const dot = make("span", "ms-dot");
  if (row) dot.style.background = coloursOf(page.state, all).get(key) || "";
  const [first] = row ? pagesOf({ key, tags: row.tags }) : [];
  const name = first
    ? make("a", "ms-run-name", nameElement(key, names), {
        href: first.href, "data-page": first.page, "data-run": key, title: key,
      })
    : make("span", "", nameElement(key, names), { title: key });
  return make("span", "ms-run", [dot, name]);
}

/**
 * @param {Lineage.ResultPage} page
 * @param {string} key
 * @param {Names} names
 */
const runCell = (page, key, names) => make("td", "", runOf(page, key, names));

/** @param {Lineage.ResultPage} page */
export function pairs(page) {
  const { drawing } = page;
  const box = page.find(".ms-optimisation-pairs");
  const summary = page.find(".ms-optimisation-nearest .ms-optimisation-told");
  summary.replaceChildren();
  if (!drawing.pairs.length) {
    box.replaceChildren(words("optimisation.no_pairs", {}, "p", "ms-optimisation-empty"));
    return;
  }
  const also = drawing.also.map(inLanguage);
  if (also.length) summary.append(words("optimisation.also", { n: also.length, names: cut(also.join(", "), 200) }));
  else summary.append(words("optimisation.alone", { n: count(drawing.pairs.length), total: count(drawing.total) }));
  summary.title = also.join(", ");
  /**
   * @param {string} key
   * @param {TextValues} [values]
   * @param {string} [kind]
   */
  const column = (key, values = {}, kind = "") => make("th", kind, words(key, values), { scope: "col" });
  const setting = { name: cut(named(page, drawing.setting), 24) };
  const result = { name: cut(targetLabel(page), 24) };
  const header = make("tr", "", [
    column("optimisation.first"),
    column("optimisation.named", setting, "ms-number"),
    column("optimisation.named", result, "ms-number"),
    column("optimisation.second"),
    column("optimisation.named", setting, "ms-number"),
    column("optimisation.named", result, "ms-number"),
    column("optimisation.difference", {}, "ms-number"),
    make("th", ""),
  ]);
  /** @param {string} text */
  const number = (text) => make("td", "ms-number ms-optimisation-cut", make("span", "ms-cut ms-name", text, { title: text }));
  const names = new Names(drawing.pairs.flatMap((pair) => pair.runs));
  const rows = drawing.pairs.map((pair) => make("tr", "", [
    runCell(page, pair.runs[0], names), number(pair.values[0]), number(pair.results[0]),
    runCell(page, pair.runs[1], names), number(pair.values[1]), number(pair.results[1]), number(pair.difference),
    both(page, pair),
  ]));
  box.replaceChildren(make("table", "ms-optimisation-table", [make("thead", "", header), make("tbody", "", rows)]));
}

/**
 * Link to the two runs page, if there is a menu.
 * @param {Lineage.ResultPage} page
 * @param {Lineage.RunPair} pair
 */
function both(page, pair) {
  const menuLink = document.querySelector('.ms-menu-link[data-page="two_runs"]');
  if (!menuLink) return make("td", "");
  const query = new URLSearchParams({ one: pair.runs[0], other: pair.runs[1] });
  const link = make("a", "ms-button ms-button-icon", icon("compare"), {
    href: `${menuLink.getAttribute("href")}?${query}`, "data-page": "two_runs", "data-query": String(query),
  });
  for (const name of ["title", "aria-label"]) setLabel(link, name, "optimisation.both");
  return make("td", "", link);
}
