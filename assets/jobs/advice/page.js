// The advice page: editable thresholds, and how far the computing of savings is. Counterpart of layouts/jobs/advice.

import { functionsOf, setProps } from "../../kit/dash.js";
import { make } from "../../kit/elements.js";
import { busy } from "../../kit/page_parts.js";
import { drawProgress } from "../../kit/progress.js";
import * as profiling from "../../profiles/profiles.js";
import { keepPlaces } from "./places.js";

const WAIT_MS = 500;
const AGAIN_MS = 700;
/** @type {WeakMap<Profiles.Page, number>} */
const timers = new WeakMap();

/**
 * Fields are created here, because Dash would send every key press. A field that has become that of another rule is made anew.
 * @param {Profiles.Page} page
 */
function fill(page) {
  const focused = document.activeElement instanceof HTMLInputElement ? document.activeElement.dataset.rule : undefined;
  for (const host of page.root.querySelectorAll(".ms-advice-field")) {
    const made = host.querySelector("input");
    const { rule, value, usual } = host.dataset;
    if (made && made.dataset.rule === rule) {
      if (made !== document.activeElement && made.dataset.value !== value) made.dataset.value = made.value = value;
      continue;
    }
    const input = make("input", "ms-input", [], { type: "number", min: "0", step: "any", value });
    Object.assign(input.dataset, { rule, value });
    for (const language of ["en", "zh"]) input.dataset[`${language}AriaLabel`] = host.dataset[`${language}AriaLabel`];
    input.setAttribute("aria-label", host.getAttribute("aria-label"));
    let timer = 0;
    input.addEventListener("input", () => {
      window.clearTimeout(timer);
      timer = window.setTimeout(
        () => page.change({ [rule]: input.value === "" || input.value === usual ? [] : [input.value] }),
        WAIT_MS,
      );
    });
    host.replaceChildren(input);
  }
  if (focused && !page.root.contains(document.activeElement)) {
    page.root.querySelector(`.ms-advice-field input[data-rule="${focused}"]`)?.focus({ preventScroll: true });
  }
}

/** @param {Profiles.Page} page */
function build(page) {
  const found = page.find(".ms-advice-found");
  const keep = keepPlaces(found);
  const watched = { childList: true, subtree: true, attributes: true, attributeFilter: ["data-rule", "data-value"] };
  new MutationObserver(() => {
    fill(page);
    keep();
  }).observe(found, watched);
}

profiling.define("advice", { build, draw: fill });

Object.assign(functionsOf("mindscope_advice"), {
  /**
   * Show how far savings are, and ask again a moment later while they are being computed.
   * @param {Body.Progress | null} progress
   * @param {string} rootId
   */
  savings(progress, rootId) {
    const page = profiling.pageOf(rootId);
    if (!page || !progress) return;
    window.clearTimeout(timers.get(page));
    /** @param {Wire.Query} more */
    const request = (more) => setProps(page.store("turn"), { data: { ...more, turn: [String(Date.now())] } });
    drawProgress(page.find(".ms-advice-status"), progress, request);
    // The page may have been left meanwhile.
    if (busy(progress)) timers.set(page, window.setTimeout(() => page.root.isConnected && request({}), AGAIN_MS));
  },
});
