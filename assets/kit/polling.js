// Asking the server for news: the interval of every page on screen, and refreshing on request.

import { setProps } from "./dash.js";

export const AFTER_REFRESH_MS = [300, 1000, 2500];
export let polls = 0;

export function frames() {
  return Array.from(document.querySelectorAll(".ms-frame[data-frame]"), (element) => element.dataset.frame);
}

export function poll() {
  polls += 1;
  for (const frame of frames()) setProps(`${frame}-interval`, { n_intervals: 1e6 + polls });
}

export function refresh() {
  polls += 1;
  for (const button of document.querySelectorAll('[data-action="refresh"]')) {
    button.classList.add("ms-busy");
    window.setTimeout(() => button.classList.remove("ms-busy"), 400);
  }
  for (const frame of frames()) setProps(`${frame}-reload`, { data: polls });
  for (const wait of AFTER_REFRESH_MS) window.setTimeout(poll, wait);
}
