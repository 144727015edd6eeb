// The advice page: editable thresholds. Counterpart of layouts/jobs/advice.

import { make } from "../../kit/elements.js";
import * as profiling from "../../profiles/profiles.js";

const WAIT_MS = 500;

/**
 * Fields are created here, because Dash would send every key press.
 * @param {Profiles.Page} page
 */
function fill(page) {
  for (const host of page.root.querySelectorAll(".ms-advice-field")) {
    if (host.firstChild) continue;
    const { rule, value, usual } = host.dataset;
    const input = make("input", "ms-input", [], { type: "number", min: "0", step: "any", value });
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
}

/** @param {Profiles.Page} page */
function build(page) {
  new MutationObserver(() => fill(page)).observe(page.find(".ms-advice-found"), { childList: true, subtree: true });
}

profiling.define("advice", { build, draw: fill });
