// Asking the server for news: one question for all pages on screen, and refreshing on request.

import { setProps } from "./dash.js";

export const AFTER_REFRESH_MS = [300, 1000, 2500];
export let polls = 0;

export function frames() {
  return Array.from(document.querySelectorAll(".ms-frame[data-frame]"), (element) => element.dataset.frame);
}

/**
 * @param {string} frame
 * @returns {string}
 */
export function routesOf(frame) {
  return document.querySelector(`[data-frame="${CSS.escape(frame)}"] > .ms-page`).dataset.routes;
}

/**
 * Let the callbacks of pages ask for their news.
 * @param {string[]} [asking]
 */
export function poll(asking = frames()) {
  polls += 1;
  for (const frame of asking) setProps(`${frame}-interval`, { n_intervals: 1e6 + polls });
}

/**
 * Ask each server on screen for its status, once for all pages of it; of one that cannot answer, pages ask themselves, which
 * says so.
 * @param {(frame: string, status: Wire.Status) => boolean} take - returns whether a page is to ask for news
 */
export async function look(take) {
  /** @type {Map<string, string[]>} */
  const servers = new Map();
  for (const frame of frames()) {
    const routes = routesOf(frame);
    servers.set(routes, [...(servers.get(routes) || []), frame]);
  }
  await Promise.all(Array.from(servers, async ([routes, own]) => {
    const status = await statusOf(routes);
    const asking = own.filter((frame) => frames().includes(frame) && (!status || take(frame, status)));
    if (asking.length) poll(asking);
  }));
}

/**
 * @param {string} routes
 * @returns {Promise<Wire.Status | null>}
 */
async function statusOf(routes) {
  try {
    const answer = await fetch(`${routes}status.json`, { cache: "no-store" });
    return answer.ok ? await answer.json() : null;
  } catch {
    return null;
  }
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
