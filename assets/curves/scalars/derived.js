// Curves derived from tags: the state lists their expressions (`expr`), and each is a card named "=" and the expression. What
// its card says of it comes with the figure (layouts/curves/expressions.py).

import { badge, icon, iconButton, make, words } from "../../kit/elements.js";
import { derivedTag, expressionOf, isDerived } from "../../kit/derived_tags.js";
import { openExpression } from "../../kit/expression_opener.js";
import { count } from "../../kit/units.js";
import { inLanguage, setLabel } from "../../kit/i18n.js";
import { last } from "../../kit/state.js";
import * as ticks from "../../kit/cards/ticks.js";
import { oneChart, synthesis } from "./view.js";

// State --------------------------------------------------------------------------------------------------------------

/**
 * Names of the derived curves of a state.
 * @param {Wire.Query} state
 */
export function derivedTags(state) {
  return [...new Set(state.expr || [])].filter(Boolean).map(derivedTag);
}

/**
 * A catalogue with the derived curves before the tags; the same object while neither changes.
 * @param {Curves.Page} page
 * @param {Wire.TagCatalogue} catalogue
 */
export function extended(page, catalogue) {
  const names = catalogue.tags.length ? derivedTags(page.state).filter((tag) => !catalogue.tags.includes(tag)) : [];
  if (!names.length) return catalogue;
  const key = JSON.stringify(names);
  const known = page.extended;
  if (known && known.of === catalogue && known.key === key) return known.catalogue;
  page.extended = { of: catalogue, key, catalogue: { ...catalogue, tags: [...names, ...catalogue.tags] } };
  return page.extended.catalogue;
}

/**
 * The changes of a state that give a derived curve another expression, "" for none: in every list that names it.
 * @param {Record<string, string[]>} state
 * @param {string} old
 * @param {string} text
 */
export function replaced(state, old, text) {
  const [before, after] = [derivedTag(old), derivedTag(text)];
  /** @type {Wire.Query} */
  const changes = { expr: state.expr.map((one) => (one === old ? text : one)).filter(Boolean) };
  for (const [key, values] of Object.entries(state)) {
    const ends = `:${before}`;
    if (key === "expr" || !values.some((value) => value === before || value.endsWith(ends))) continue;
    const others = values.map((value) => {
      if (value !== before && !value.endsWith(ends)) return value;
      // Another curve has another range.
      if (!text || (key === "zoom" && value !== before)) return null;
      return value === before ? after : value.slice(0, -before.length) + after;
    });
    changes[key] = others.filter((value) => value !== null);
  }
  return changes;
}

/**
 * The changes of a state that add a derived curve where it is seen.
 * @param {Wire.Query} state
 * @param {string} text
 * @param {string[][] | null} sides
 */
export function added(state, text, sides) {
  const tag = derivedTag(text);
  /** @type {Wire.Query} */
  const changes = { expr: [...new Set([...(state.expr || []), text])], page: [] };
  if (state.tag && !state.tag.includes(tag)) changes.tag = [...state.tag.filter(Boolean), tag];
  if (!ticks.matching([tag], last(state, "q", "")).length) changes.q = [];
  if (sides && !sides.flat().includes(tag)) Object.assign(changes, { left: [...sides[0], tag], right: sides[1] });
  return changes;
}

// The dialog -----------------------------------------------------------------------------------------------------------

/**
 * @param {Curves.Page} page
 * @param {string} old
 */
function open(page, old) {
  const recorded = () => page.catalogue.tags.filter((tag) => !isDerived(tag));
  openExpression({
    host: page.find(".ms-dialogs"),
    routes: page.root.dataset.routes || "",
    title: old ? "expr.change" : "expr.new",
    value: old,
    tags: recorded,
    missing: ({ tags }) => tags.filter((tag) => !page.catalogue.tags.includes(tag)),
    take: (text) => {
      if (text === old) return;
      if (!old) page.change(added(page.state, text, oneChart(page) ? synthesis(page) : null));
      else page.change(replaced(page.state, old, derivedTags(page.state).includes(derivedTag(text)) ? "" : text));
    },
    remove: old ? () => page.change(replaced(page.state, old, "")) : undefined,
  });
}

/**
 * The button beside the filter of tags.
 * @param {Curves.Page} page
 */
export function adder(page) {
  const button = make("button", "ms-button ms-button-small ms-expression-add", [icon("plus"), words("expr.add")],
    { type: "button", "data-act": "expr-add" });
  setLabel(button, "title", "expr.add.title");
  button.addEventListener("click", () => open(page, ""));
  return button;
}

// Cards ------------------------------------------------------------------------------------------------------------------

/** @param {string} key */
export function buttons(key) {
  if (!isDerived(key)) return [];
  return [iconButton("pencil", "expr.edit", "expr-edit"), iconButton("trash", "expr.delete", "expr-delete")];
}

/**
 * Buttons of a card that is a recorded tag whose name begins as that of a derived curve would do nothing.
 * @param {Curves.Page} page
 * @param {HTMLElement} card
 * @param {string} key
 */
export function press(page, card, key) {
  const own = (page.state.expr || []).includes(expressionOf(key));
  for (const act of ["expr-edit", "expr-delete"]) {
    const button = card.querySelector(`[data-act="${act}"]`);
    if (button) button.hidden = !own;
  }
}

export const acts = {
  /**
   * @param {Curves.Page} page
   * @param {HTMLElement} card
   * @param {string} key
   */
  "expr-edit": (page, card, key) => open(page, expressionOf(key)),
  /**
   * @param {Curves.Page} page
   * @param {HTMLElement} card
   * @param {string} key
   */
  "expr-delete": (page, card, key) => page.change(replaced(page.state, expressionOf(key), "")),
};

/**
 * @param {string[]} lines
 * @param {number} total
 */
function listing(lines, total) {
  return [...lines, ...(total > lines.length ? [`… + ${count(total - lines.length)}`] : [])].join("\n");
}

/** @param {[string, number][]} pairs */
function counted(pairs) {
  const total = pairs.reduce((sum, [, number]) => sum + number, 0);
  return total ? { n: count(total), which: pairs.map(([name, number]) => `${name}: ${count(number)}`).join("\n") } : null;
}

/**
 * What a card says of its derived curves: what is wrong, and what was left out.
 * @param {{ derived?: Curves.Derived[] }} meta
 */
export function notes(meta) {
  return (meta.derived || []).flatMap((one) => {
    if (!("runs" in one)) {
      return [badge("expr.error.badge", { column: count(one.error.column) }, null, "wrong"),
        make("span", "ms-card-reason", inLanguage(one.error.text))];
    }
    const found = [];
    /** @type {(key: string, values: TextValues | null) => void} */
    const add = (key, values) => values && found.push(badge(key, values, `${key}.title`));
    if (one.lacking) {
      const which = listing(one.lacking_runs, one.lacking);
      add("expr.lacking", { n: count(one.lacking), total: count(one.runs), which });
    }
    if (one.apart) {
      const key = one.apart === 1 ? "expr.apart.one" : "expr.apart";
      found.push(badge(key, { n: count(one.apart), which: listing(one.apart_runs, one.apart) }, "expr.apart.title"));
    }
    /** @type {("unpaired" | "superseded" | "undefined")[]} */
    const kinds = ["unpaired", "superseded", "undefined"];
    for (const kind of kinds) add(`expr.${kind}`, counted(one[kind]));
    return found;
  });
}
