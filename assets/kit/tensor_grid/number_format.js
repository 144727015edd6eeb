// How the numbers of a table are written: notation and decimals. State: format ("sci", else plain) and digits (default 5).

import { make, pressSegment, segments, words } from "../elements.js";
import { last } from "../state.js";

const MOST = 5;

/**
 * The controls, and draw(state) that shows in them what the state says; change({ key: [...] }) changes it.
 * @param {(changes: Wire.Query) => void} change
 */
export function lookControls(change) {
  const notation = segments("tensor_grid.format", [["value", "tensor_grid.format.value"], ["sci", "tensor_grid.format.sci"]],
    (value) => change({ format: value === "sci" ? ["sci"] : [] }));
  notation.classList.add("ms-tensor-format");
  const choices = Array.from({ length: MOST + 1 }, (_none, n) => make("option", "", String(n), { value: String(n) }));
  const decimals = make("select", "ms-input", choices, { "data-control": "digits" });
  decimals.addEventListener("change", () => change({ digits: decimals.value === String(MOST) ? [] : [decimals.value] }));
  const field = make("label", "ms-field", [words("tensor_grid.digits", {}, "span", "ms-field-name"), decimals]);
  field.classList.add("ms-tensor-digits");
  return {
    elements: [notation, field],
    /** @param {Wire.Query} state */
    draw(state) {
      const { scientific, digits } = lookOf(state);
      pressSegment(notation, scientific ? "sci" : "value");
      decimals.value = String(digits);
    },
  };
}

/**
 * { scientific, digits } of a state.
 * @param {Wire.Query} state
 */
export function lookOf(state) {
  const digits = Number(last(state, "digits", String(MOST)));
  return {
    scientific: last(state, "format", "") === "sci",
    digits: Number.isInteger(digits) && digits >= 0 && digits <= MOST ? digits : MOST,
  };
}
