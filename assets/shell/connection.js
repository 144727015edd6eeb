// The connection to the server: a notice while it is lost or refuses, and an event with the status of every answer of Dash.

import { isOfRequest, isOwn } from "../kit/answers.js";
import { make, words } from "../kit/elements.js";
import { writeText } from "../kit/i18n.js";

/** The address of which a request was refused; the notice stays as long as it is open. */
let refused = "";

/** Whether plotly.js could not be loaded; the notice stays until it is there. */
let lacksCharts = false;

/** @param {string | null} key */
export function notice(key) {
  const element = document.querySelector(".ms-notice");
  if (!element || (key === null && refused === window.location.href)) return;
  if (key === null && lacksCharts && !window.Plotly) {
    noticeOfCharts();
    return;
  }
  element.hidden = key === null;
  if (key) writeText(element, key);
}

/**
 * Say in one line which value of the address the server does not know, with a link to the page without it.
 * @param {string} reason
 */
function noticeOfRefusal(reason) {
  const element = document.querySelector(".ms-notice");
  if (!element) return;
  refused = window.location.href;
  const address = new URL(refused);
  const [key] = reason.split(":", 1);
  const known = address.searchParams.has(key);
  address.searchParams.delete(key);
  const link = make("a", "ms-notice-link", words("status.without", { key }), { href: address.pathname + address.search });
  const line = writeText(make("span", ""), known ? "status.refused_address" : "status.refused", { reason });
  element.replaceChildren(line, ...(known ? [" ", link] : []));
  delete element.dataset.english;  // what writeText wrote into it before
  element.hidden = false;
}

/** Say that no chart can be drawn. Dash tries to load plotly.js once, so only another load of the page helps. */
export function noticeOfCharts() {
  const element = document.querySelector(".ms-notice");
  if (!element) return;
  lacksCharts = true;
  if (!element.hidden && element.querySelector("[data-charts]")) return;
  const link = make("a", "ms-notice-link", words("status.load_again"), { href: window.location.href, "data-charts": "" });
  link.addEventListener("click", (event) => {
    event.preventDefault();
    window.location.reload();
  });
  element.replaceChildren(words("status.charts"), " ", link);
  delete element.dataset.english;  // what writeText wrote into it before
  element.hidden = false;
}

/**
 * Publish the status of an answer, 0 for none, and why a request was refused, "" if it was not.
 * @param {number} status
 * @param {string} [reason]
 */
function publish(status, reason = "") {
  const isSaid = Boolean(reason && document.querySelector(".ms-notice"));
  window.dispatchEvent(new CustomEvent("mindscope:answer", { detail: { status, reason, isSaid } }));
}

/**
 * Let a body be read more than once: Dash reads that of a refused request twice, and a second time is an error.
 * @param {Response} response
 */
function readable(response) {
  const body = response.text();
  response.text = () => body;
  response.json = () => body.then((text) => JSON.parse(text));
  return body;
}

/** @param {Response} response */
async function publishRefusal(response) {
  const { error } = await readable(response).then((text) => JSON.parse(text)).catch(() => ({}));
  if (error) noticeOfRefusal(error);
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
        if (isOfRequest(response.status) && isOwn(rest[0])) return;
        if (response.status === 400) publishRefusal(response);
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
