// A choice of several labels among up to some ten thousand: a button, and below it a field to search and a list.

import { make, words } from "../kit/elements.js";
import { count } from "../kit/units.js";
import { setLabel, translate, writeText } from "../kit/i18n.js";

const MOST = 200;  // labels in the list at a time

/**
 * The labels to list: those chosen first, then those whose name contains the text, at most MOST; and how many are left out.
 * @param {Wire.LabelRow[]} labels
 * @param {string[]} chosen
 * @param {string} text
 * @returns {[Wire.LabelRow[], number]}
 */
export function listed(labels, chosen, text, most = MOST) {
  const picked = new Set(chosen);
  const wanted = text.trim().toLowerCase();
  const first = labels.filter(([number]) => picked.has(String(number)));
  const rest = labels.filter(([number, name]) => !picked.has(String(number)) && name.toLowerCase().includes(wanted));
  const shown = [...first, ...rest].slice(0, Math.max(most, first.length));
  return [shown, first.length + rest.length - shown.length];
}

/**
 * column is where a label has its number of samples.
 * @param {"labels" | "truth" | "predicted"} name
 * @param {(values: string[]) => void} choose
 * @param {2 | 3 | 4} column
 * @returns {Explanations.LabelPicker}
 */
export function labelPicker(name, choose, column) {
  const summary = make("summary", "ms-button", [], {});
  setLabel(summary, "title", `explanations.${name}.tip`);
  writeText(summary, `explanations.${name}`);
  const search = make("input", "ms-input", [], { type: "search", spellcheck: "false" });
  for (const attribute of ["placeholder", "aria-label"]) setLabel(search, attribute, "explanations.find_label");
  const list = make("div", "ms-explanations-labels", [], { role: "group" });
  setLabel(list, "aria-label", `explanations.${name}`);
  const more = make("p", "ms-muted");
  const clear = make("button", "ms-button ms-button-small", words("explanations.clear"), { type: "button" });
  const element = make("details", "ms-details ms-explanations-picker", [
    summary, make("div", "ms-popover", [search, list, more, clear]),
  ]);
  /** @type {Wire.LabelRow[]} */
  let labels = [];
  /** @type {string[]} */
  let chosen = [];

  function fill() {
    const [shown, left] = listed(labels, chosen, search.value);
    list.replaceChildren(...shown.map((label) => {
      const value = String(label[0]);
      const box = make("input", "", [], { type: "checkbox" });
      box.checked = chosen.includes(value);
      box.addEventListener("change", () => {
        choose(box.checked ? [...chosen, value] : chosen.filter((one) => one !== value));
      });
      const number = make("span", "ms-muted ms-number", count(label[column]));
      number.title = translate("explanations.label_count", { n: count(label[column]) });
      const name = make("span", "ms-cut ms-name", label[1], { title: label[1] });
      return make("label", "ms-explanations-label", [box, name, number]);
    }));
    more.hidden = !left;
    if (left) writeText(more, "explanations.more_labels", { n: count(left) });
    clear.hidden = !chosen.length;
  }

  search.addEventListener("input", fill);
  clear.addEventListener("click", () => choose([]));
  element.addEventListener("toggle", () => {
    if (!element.open) return;
    search.value = "";
    fill();
    search.focus();
  });

  return {
    element,
    draw(every, values) {
      const others = every !== labels || JSON.stringify(values) !== JSON.stringify(chosen);
      [labels, chosen] = [every, values];
      const text = values.length ? `explanations.${name}_n` : `explanations.${name}`;
      const names = every.filter(([number]) => values.includes(String(number))).map((label) => label[1]);
      writeText(summary, text, { n: names.length === 1 ? names[0] : values.length });
      summary.setAttribute("aria-pressed", String(values.length > 0));
      if (others && element.open) fill();
    },
  };
}
