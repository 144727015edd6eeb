// Dimension boxes: one field per dimension of a tensor, with its size, that select the part which a table shows.

import { make } from "../elements.js";
import { count } from "../units.js";
import { setLabel } from "../i18n.js";

/**
 * The element that holds the boxes; label is the text key of its name.
 * @param {string} label
 */
export function boxGroup(label) {
  const group = make("span", "ms-tensor-boxes", [], { role: "group" });
  setLabel(group, "aria-label", label);
  return group;
}

/**
 * Draw the boxes of a tensor, unless they are drawn already. about: what the server says of it (shape, boxes, refused);
 * choose(boxes) takes the texts after a change.
 */
export function drawBoxes(host, about, choose) {
  const key = JSON.stringify([about.shape, about.boxes, about.refused]);
  if (host.dataset.boxesOf === key) return;
  host.dataset.boxesOf = key;
  const values = about.boxes.length === about.shape.length ? about.boxes : about.shape.map((_size, i) => about.boxes[i] || "");
  const bad = /^dimension (\d+)/.exec(about.refused || "");
  const inputs = values.map((value, dim) => {
    const input = make("input", "ms-input ms-tensor-box", [], { spellcheck: "false", autocomplete: "off" });
    input.value = value;
    const size = about.shape[dim];
    for (const name of ["title", "aria-label"]) {
      setLabel(input, name, "tensor_grid.box", { dim, size: count(size), last: count(size - 1) });
    }
    if (about.refused && (!bad || Number(bad[1]) === dim)) input.setAttribute("aria-invalid", "true");
    return input;
  });
  const focused = Array.from(host.querySelectorAll("input")).indexOf(document.activeElement);
  const parts = inputs.map((input, dim) =>
    make("span", "ms-tensor-dim", [input, make("span", "ms-muted", `/${count(about.shape[dim])}`)]),
  );
  host.replaceChildren(...parts);
  for (const input of inputs) {
    input.addEventListener("change", () => choose(inputs.map((one) => one.value.trim() || ":")));
  }
  if (inputs[focused]) inputs[focused].focus({ preventScroll: true });
}

/** Forget the boxes of a tensor that is no longer shown. */
export function clearBoxes(host) {
  delete host.dataset.boxesOf;
  host.replaceChildren();
}

/**
 * The texts of boxes as an entry of the state, which has other uses for colons; and back.
 * @param {string[]} boxes
 */
export const boxesText = (boxes) => boxes.join(",").replace(/\s/g, "").replace(/:/g, "..");
/** @param {string} text */
export const dimsOf = (text) => text.replace(/\.\./g, ":");
