// Check boxes and remarks of steps that no file can answer. They are kept with the notes (app/routes/runs/notes.py), one step
// at a time; a change of somebody else is shown instead of ours.

import { make } from "../../kit/elements.js";
import { setLabel, writeText } from "../../kit/i18n.js";
import { post } from "../../kit/notes.js";

/**
 * Whether somebody types a remark, which no answer may replace.
 * @param {HTMLElement} host
 */
export function isTyping(host) {
  const active = document.activeElement;
  return active instanceof HTMLInputElement && active.type === "text" && host.contains(active);
}

/**
 * Make the fields of all steps that have a place for them.
 * @param {HTMLElement} host
 * @param {string} routes
 * @param {string} run
 */
export function drawChecks(host, routes, run) {
  for (const place of host.querySelectorAll("[data-check]")) {
    if (place instanceof HTMLElement) draw(place, routes, run);
  }
}

/**
 * @param {HTMLElement} place
 * @param {string} routes
 * @param {string} run
 */
function draw(place, routes, run) {
  const step = place.dataset.check || "";
  const box = /** @type {HTMLInputElement} */ (make("input", "", [], { type: "checkbox" }));
  box.dataset.key = `tick-${step}`;
  const remark = /** @type {HTMLInputElement} */ (make("input", "ms-input ms-guides-remark", [], { type: "text" }));
  remark.dataset.key = `remark-${step}`;
  remark.maxLength = 2000;
  for (const name of ["placeholder", "aria-label"]) setLabel(remark, name, "guides.remark");
  const label = make("label", "ms-guides-tick", [box, writeText(make("span"), "guides.done")]);
  const failure = make("p", "ms-guides-failure", [], { role: "alert" });
  failure.hidden = true;
  /** @param {{ done: boolean, remark: string, version: string }} check */
  const show = (check) => {
    box.checked = check.done;
    remark.value = check.remark;
    place.dataset.version = check.version;
    const entry = place.closest(".ms-guides-step");
    if (entry instanceof HTMLElement) entry.dataset.state = check.done ? "done" : "not-in-any-file";
  };
  show({ done: place.dataset.done === "1", remark: place.dataset.remark || "", version: place.dataset.version || "" });
  const kept = place.dataset.kept === "1";
  box.disabled = !kept;
  remark.disabled = !kept;
  const save = async () => {
    const change = { run, step, done: box.checked, remark: remark.value, was: place.dataset.version || "" };
    try {
      const { now } = await post(routes, "check", change);
      failure.hidden = true;
      show(now);
    } catch (error) {
      writeText(failure, "guides.not_kept", { reason: error instanceof Error ? error.message : String(error) });
      failure.hidden = false;
    }
  };
  box.addEventListener("change", () => void save());
  remark.addEventListener("change", () => void save());
  remark.addEventListener("keydown", (event) => { if (event.key === "Enter") remark.blur(); });
  place.replaceChildren(label, remark, failure);
}
