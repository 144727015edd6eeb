// A field in place of a title: Enter or leaving it takes the name, Escape does not.

import { make } from "../../kit/elements.js";
import { setLabel } from "../../kit/i18n.js";

/**
 * Put a field in place of a title and return it. `ended` is called once, when the title is back, with the new name without
 * spaces around it, or with null after Escape.
 * @param {string} style
 * @param {number} longest
 * @param {string} name
 * @param {Element} title
 * @param {(name: string | null) => void} ended
 */
export function renaming(style, longest, name, title, ended) {
  const field = make("input", style, [], { type: "text", maxlength: String(longest) });
  setLabel(field, "aria-label", "board.rename");
  field.value = name;
  /** @param {boolean} save */
  const end = (save) => {
    if (!field.isConnected) return;
    field.replaceWith(title);
    ended(save ? field.value.trim() : null);
  };
  field.addEventListener("keydown", (event) => {
    event.stopPropagation();
    if (event.key === "Enter" && !event.isComposing) end(true);
    else if (event.key === "Escape") end(false);
  });
  field.addEventListener("blur", () => end(true));
  title.replaceWith(field);
  field.focus();
  field.select();
  return field;
}
