// Mirrors of remote runs in the data health: what is copied, what is not and why, and a button for files that are too large.

import { make } from "./elements.js";
import { translate, writeText } from "./i18n.js";
import { dateTime } from "./moments.js";
import { post } from "./notes.js";
import { count } from "./units.js";

const STATES = ["copied", "growing", "waiting", "large", "removed", "failed"];

/**
 * A sentence with the reason of a failure and the short word of the server.
 * @param {HTMLElement} host
 * @param {string} reason
 * @param {string} code
 */
function addReason(host, reason, code) {
  host.append(writeText(make("span", ""), `mirror.${reason}`), code ? ` (${code})` : "");
  return host;
}

/**
 * @param {Wire.Mirror} found
 * @returns {HTMLElement}
 */
export function mirror(found) {
  const host = make("section", "ms-mirror");
  const line = (/** @type {string} */ key, /** @type {any} */ values = {}, name = "ms-health-line") => {
    host.append(writeText(make("p", name), key, values));
  };
  if (found.address) line("mirror.title", { address: found.address }, "ms-health-line ms-mirror-title");
  else line("mirror.starting");
  if (!found.running && found.address) line("mirror.stopped", {}, "ms-health-line ms-health-failed");
  if (found.reason) {
    const failed = make("p", "ms-health-line ms-health-failed", [writeText(make("span", ""), "mirror.failed"), " "]);
    host.append(addReason(failed, found.reason, found.code));
  }
  if (found.retryAt && found.running) {
    line("mirror.retry", { n: count(Math.max(1, Math.round(found.retryAt - Date.now() / 1000))) });
  }
  host.append(facts(found));
  if (found.files.length) host.append(files(found));
  return host;
}

/** @param {Wire.Mirror} found */
function facts(found) {
  const line = make("p", "ms-health-line ms-muted ms-mirror-facts");
  for (const state of STATES) {
    const n = found.counts[state];
    if (n) line.append(writeText(make("span", ""), `mirror.${state === "failed" ? "not_copied" : state}`, { n: count(n) }));
  }
  if (found.listed) {
    line.append(writeText(make("span", ""), "mirror.listed", { time: dateTime(found.listed) }));
  }
  const traffic = { requests: count(found.requests), received: found.received };
  line.append(writeText(make("span", ""), "mirror.traffic", traffic));
  return line;
}

/** @param {Wire.Mirror} found */
function files(found) {
  const list = make("ul", "ms-problems");
  for (const [name, size, state, reason, code] of found.files) {
    const entry = make("li", "ms-problem");
    const head = make("div", "ms-problem-head");
    const badge = make("span", state === "failed" ? "ms-badge ms-badge-wrong" : "ms-badge");
    head.append(writeText(badge, `mirror.state_${state}`));
    head.append(make("span", "ms-problem-run ms-cut ms-name", name));
    if (state !== "failed") head.append(make("span", "ms-problem-place", size));
    if (state === "large" && found.fetches) head.append(fetchButton(found.address, name));
    entry.append(head);
    if (reason) entry.append(addReason(make("div", "ms-problem-text"), reason, code));
    list.append(entry);
  }
  return list;
}

/**
 * @param {string} address
 * @param {string} name
 */
function fetchButton(address, name) {
  const button = writeText(make("button", "ms-button ms-mirror-fetch", [], { type: "button" }), "mirror.fetch");
  button.addEventListener("click", async () => {
    button.disabled = true;
    try {
      const routes = button.closest(".ms-frame").querySelector(".ms-page").dataset.routes;
      await post(routes, "fetch", { address, name });
      writeText(button, "mirror.asked");
    } catch (error) {
      button.disabled = false;
      button.title = `${translate("mirror.state_failed")}: ${error instanceof Error ? error.message : error}`;
    }
  });
  return button;
}
