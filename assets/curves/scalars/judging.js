// What the rules of insights judged on the curves of a card, in a dialog; asked for when it is opened.

import { setProps } from "../../kit/dash.js";
import { icon, make, words } from "../../kit/elements.js";
import { inLanguage, setLabel } from "../../kit/i18n.js";
import * as strict from "../../kit/strictness.js";
import { count } from "../../kit/units.js";
import { strictness } from "./insights.js";
import { synthesis } from "./view.js";

const STATES = ["found", "nothing found", "not judged", "not recorded"];

/** Item of the menus of a card. */
export function item() {
  const button = make("button", "ms-menu-item", [words("insights.judged")], { type: "button", "data-act": "judging" });
  setLabel(button, "title", "insights.judged_tip");
  return button;
}

/**
 * @param {Curves.Page} page
 * @param {string} key
 * @param {HTMLElement} pressed
 */
export function open(page, key, pressed) {
  const menu = pressed.closest("details");
  if (menu) menu.open = false;
  const dialog = make("dialog", "ms ms-dialog ms-judging");
  setLabel(dialog, "aria-label", "insights.judged");
  const close = make("button", "ms-button ms-button-icon", icon("close"), { type: "button" });
  setLabel(close, "aria-label", "insights.close");
  close.addEventListener("click", () => dialog.close());
  const title = make("h2", "ms-dialog-title ms-cut", [words("insights.judged"), key ? ` · ${key}` : ""]);
  const body = make("div", "ms-dialog-body", [words("insights.judging", {}, "p", "ms-muted")]);
  dialog.append(make("header", "ms-dialog-head", [title, close]), body);
  dialog.addEventListener("close", () => dialog.remove());
  page.find(".ms-dialogs").replaceChildren(dialog);
  dialog.showModal();
  page.judgings = (page.judgings || 0) + 1;  // Dash ignores an ask that equals the one before it
  const hidden = new Set(page.state.hide || []);
  const { runs } = page.catalogue;
  const shown = (page.state.run || runs).filter((run) => !hidden.has(run));
  const tags = key ? [key] : synthesis(page).flat();
  setProps(page.store("judging-ask"), { data: { tag: tags, run: shown, number: [String(page.judgings)] } });
}

/**
 * The rules of a curve by state. One that marks at no level that is chosen found nothing.
 * @param {Curves.Page} page
 * @param {Curves.Judgement[]} rules
 */
export function byState(page, rules) {
  const chosen = strictness(page);
  /** @type {Map<string, Curves.Judgement[]>} */
  const found = new Map(STATES.map((state) => [state, []]));
  for (const rule of rules) {
    const shown = rule.state !== "found" || strict.passes(chosen, rule.kind, rule.score);
    found.get(shown ? rule.state : "nothing found")?.push(rule);
  }
  return found;
}

/** @param {Curves.Judgement} rule */
function named(rule) {
  const name = words(`insights.kind.${rule.kind}`);
  const reason = inLanguage(rule.reason);
  return reason ? make("div", "", [name, make("span", "ms-muted", ` · ${reason}`)]) : name;
}

/**
 * @param {Curves.Page} page
 * @param {Curves.JudgedCurve} curve
 * @param {boolean} isNamed whether several tags are shown
 */
function section(page, curve, isNamed) {
  const dot = make("span", "ms-dot");
  dot.style.background = curve.colour;
  const name = isNamed ? `${curve.label} · ${curve.tag}` : curve.label;
  const heading = make("h3", "ms-judging-curve", [dot, make("span", "ms-cut ms-name", name)]);
  const rows = [...byState(page, curve.rules)].filter(([, rules]) => rules.length).map(([state, rules]) => {
    const items = rules.map(named);
    const isShort = rules.every(({ reason }) => !reason[0]);
    const told = isShort ? items.flatMap((one, at) => (at ? [inLanguage([", ", "、"]), one] : [one])) : items;
    const row = make("div", "ms-judging-row", [
      words(`insights.state.${state.replace(" ", "_")}`, {}, "dt", "ms-judging-state"), make("dd", "ms-judging-rules", told),
    ]);
    row.dataset.state = state.replace(" ", "-");
    return row;
  });
  return make("section", "", [heading, make("dl", "ms-judging-rows", rows)]);
}

/**
 * @param {Curves.Page} page
 * @param {Curves.Judged} answer
 */
export function received(page, answer) {
  const body = page.find(".ms-dialogs .ms-judging .ms-dialog-body");
  if (!body) return;
  const several = new Set(answer.curves.map(({ tag }) => tag)).size > 1;
  const more = answer.more ? [words("insights.judged_more", { n: count(answer.more) }, "p", "ms-muted")] : [];
  body.replaceChildren(...answer.curves.map((curve) => section(page, curve, several)), ...more);
}
