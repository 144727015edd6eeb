// The connection to the server: a notice while it is lost or refuses, and an event with the status of every answer of Dash.

import { writeText } from "../kit/i18n.js";

/** @param {string | null} key */
export function notice(key) {
  const element = document.querySelector(".ms-notice");
  if (!element) return;
  element.hidden = key === null;
  if (key) writeText(element, key);
}

/**
 * Publish the status of an answer, 0 for none, and why a request was refused, "" if it was not.
 * @param {number} status
 * @param {string} [reason]
 */
function publish(status, reason = "") {
  window.dispatchEvent(new CustomEvent("mindscope:answer", { detail: { status, reason } }));
}

/** @param {Response} response */
async function publishRefusal(response) {
  const { error } = await response.json().catch(() => ({}));
  publish(response.status, error || "");
}

// Dash does not report a lost server or a refused token, so its requests are observed here.
const fetchNow = window.fetch;
window.fetch = function (resource, ...rest) {
  const url = typeof resource === "string" ? resource : "url" in resource ? resource.url : String(resource);
  const answer = fetchNow.call(this, resource, ...rest);
  if (url.includes("_dash-update-component") && document.querySelector(".ms-shell")) {
    answer.then(
      (response) => {
        notice(
          response.status === 401 || response.status === 403 ? "status.denied" : response.status >= 502 ? "status.lost" : null,
        );
        // A copy: Dash reads the body too, and it can be read once.
        if (response.status === 400) publishRefusal(response.clone());
        else publish(response.status);
      },
      (error) => {
        if (error.name === "AbortError") return;
        notice("status.lost");
        publish(0);
      },
    );
  }
  return answer;
};
