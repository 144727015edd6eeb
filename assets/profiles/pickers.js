// A choice of a group of ranks: few are a list to choose from, many a field to type into.

import { fillSelect, make, select, words } from "../kit/elements.js";
import { setLabel, translate } from "../kit/i18n.js";
import { MOST_LISTED } from "../kit/number_picker.js";

/**
 * A choice of a group: [[hash, name], ...], or none. Many are a field that completes names.
 * @param {string} id
 * @param {(group: string) => void} choose
 * @returns {Profiles.GroupPicker}
 */
export function groupPicker(id, choose) {
  /** @type {[string, string][]} */
  let groups = [];
  let value = "";
  const list = select("profiling.group", choose);
  const names = make("datalist", "", [], { id });
  const field = make("input", "ms-input ms-profiling-group", [], { type: "text", list: id, autocomplete: "off" });
  for (const name of ["title", "aria-label"]) setLabel(field, name, "profiling.group");
  const typed = make("label", "ms-field", [words("profiling.group", {}, "span", "ms-field-name"), field, names]);
  const element = make("span", "ms-number-picker", [list, typed]);
  const show = () => { field.value = (groups.find(([hash]) => hash === value) || ["", ""])[1]; };
  /** @type {[string, string][] | null} */
  let filled = null;
  field.addEventListener("focus", () => {
    field.select();
    if (filled === groups) return;
    filled = groups;
    names.replaceChildren(...groups.map(([, name]) => make("option", "", [], { value: name })));
  });
  field.addEventListener("change", () => {
    const text = field.value.trim();
    const found = groups.find(([, name]) => name === text) || groups.find(([, name]) => name.startsWith(text));
    if (text === "") choose("");
    else if (found) choose(found[0]);
    else show();
  });

  /**
   * @param {[string, string][]} found
   * @param {string} chosen
   */
  function draw(found, chosen) {
    [groups, value] = [found, chosen];
    element.hidden = !groups.length;
    const many = groups.length > MOST_LISTED;
    [list.hidden, typed.hidden] = [many, !many];
    if (many) {
      field.placeholder = translate("profiling.all_groups");
      if (document.activeElement !== field) show();
    } else {
      const known = groups.some(([hash]) => hash === value);
      fillSelect(list, [["", translate("profiling.all_groups")], ...groups], known ? value : "");
    }
  }

  return { element, draw };
}
