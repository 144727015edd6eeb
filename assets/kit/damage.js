// The problems listed in the empty state of data that damage may have taken; see layouts/kit/elements.py: damaged_state.

import { make } from "./elements.js";

/**
 * @param {HTMLElement} root element with such states
 * @param {Wire.FileAndText[]} problems
 */
export function listDamage(root, problems) {
  for (const list of root.querySelectorAll(".ms-empty-damage")) {
    list.replaceChildren(...problems.map(([file, text]) => make("li", "", [make("span", "ms-mono", file), " ", text])));
  }
}
