// Asking the server for news: one question for all pages on screen, and refreshing on request.

import { setProps } from "./dash.js";

export const AFTER_REFRESH_MS = [300, 1000, 2500];
let polls = 0;
/** Whether the latest callback got no answer: pages then ask at each look, as only an answer says that the server is back. */
let lost = false;

const LEAST_SECONDS = 1;
const DRAWING_SECONDS = 0.5;
const QUIET_SHARE = 0.1;  // of the time without news, which a look waits at most

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
 * Seconds between two looks at a server.
 *
 * New data should be on screen within the interval that the user chose. Three delays add up: the server's scan (half of its
 *   own interval while pages look), the look, and the drawing; what the other two leave is the time between looks. Where
 *   nothing has happened for a while, looks become rarer, up to the interval: what comes every ten seconds may be a second
 *   later on screen, and pages that stay open keep neither browser nor server busy.
 * @param {number} chosen - the interval in seconds
 * @param {number} scan - seconds between scans of the server
 * @param {number} quiet - seconds since the last news
 */
export function secondsBetweenLooks(chosen, scan, quiet) {
  const half = scan / 2;
  const prompt = Math.max(chosen - half - DRAWING_SECONDS, Math.min(chosen, half) / 2, LEAST_SECONDS);
  return Math.max(prompt, Math.min(chosen, QUIET_SHARE * quiet));
}

/**
 * Note with which status a callback was answered, 0 for not at all.
 * @param {number} status
 */
export function noteAnswer(status) {
  lost = status === 0 || status >= 502;
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
 * Ask each server on screen for its status, once for all pages of it; of one that cannot answer or did not, pages ask
 * themselves, which says so, or that it is back.
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
    const asking = own.filter((frame) => frames().includes(frame) && (!status || take(frame, status) || lost));
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
