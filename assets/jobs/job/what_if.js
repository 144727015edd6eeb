// The What-if card: which ranks, links and changes are asked about, and when. Counterpart of layouts/jobs/job/what_if.py.

import { setProps } from "../../kit/dash.js";
import { make, option, select, words } from "../../kit/elements.js";
import { setLabel } from "../../kit/i18n.js";
import { busy } from "../../kit/page_parts.js";
import { drawProgress } from "../../kit/progress.js";
import { same } from "../../kit/state.js";

/** @typedef {Record<string, string[]>} Ask */
/** @typedef {{ slow: HTMLInputElement, link: HTMLInputElement, cause: HTMLSelectElement, ask: Ask, timer: number }} Shown */

const CAUSES = ["rank", "link", "gaps", "stages", "communication", "bubble"];
const ASKED = ["slow", "link", "cause"];
const WAIT_MS = 500;
const AGAIN_MS = 700;
/** @type {WeakMap<Profiles.Page, Shown>} */
const cards = new WeakMap();

const EXAMPLES = { slow: "0-3,8", link: "0-1,4-5" };

/**
 * Make the fields.
 * @param {Profiles.Page} page
 */
export function build(page) {
  /** @param {"slow" | "link"} name */
  const field = (name) => {
    const input = make("input", "ms-input", [], {
      type: "text", maxlength: "400", autocomplete: "off", placeholder: EXAMPLES[name],
    });
    for (const attribute of ["title", "aria-label"]) setLabel(input, attribute, `job.what.${name}_tip`);
    let timer = 0;
    input.addEventListener("input", () => {
      window.clearTimeout(timer);
      timer = window.setTimeout(() => page.change({ [name]: input.value.trim() ? [input.value.trim()] : [] }), WAIT_MS);
    });
    return input;
  };
  const cause = select("job.what.change", (value) => page.change({ cause: causesOf(value) }));
  cause.replaceChildren(option("", "job.what.cause"), ...CAUSES.map((one) => option(one, `job.what.of.${one}`)));
  const shown = { slow: field("slow"), link: field("link"), cause, ask: {}, timer: 0 };
  cards.set(page, shown);
  page.find(".ms-job-what-fields").replaceChildren(
    make("label", "ms-job-what-field", [words("job.what.slow"), shown.slow]),
    make("label", "ms-job-what-field", [words("job.what.link"), shown.link]), cause,
  );
}

/**
 * The lines that a choice means.
 * @param {string} value
 */
function causesOf(value) {
  if (value === "rank") return ["rank", "ranks"];
  return value === "communication" ? [value, "collectives"] : value ? [value] : [];
}

/**
 * Ask for the lines of a job, if something else is asked about than what is shown.
 * @param {Profiles.Page} page
 * @param {Ask} job
 * @param {Ask} state
 */
export function draw(page, job, state) {
  const shown = cards.get(page);
  const ask = { ...job, ...Object.fromEntries(ASKED.filter((name) => state[name]).map((name) => [name, state[name]])) };
  if (!shown || same(ask, shown.ask)) return;
  shown.ask = ask;
  for (const name of /** @type {("slow" | "link")[]} */ (["slow", "link"])) {
    if (shown[name] !== document.activeElement) [shown[name].value] = ask[name] || [""];
  }
  [shown.cause.value] = ask.cause || [""];
  const query = new URLSearchParams();
  for (const name of ["run", "session", "rank", ...ASKED]) for (const value of ask[name] || []) query.append(name, value);
  const link = /** @type {HTMLAnchorElement} */ (page.find(".ms-job-what-csv"));
  link.href = `${page.root.dataset.routes}job/what_if.csv?${query}`;
  setProps(page.store("what"), { data: ask });
}

/**
 * Show how far reading and replaying are, and ask again a moment later while they go on.
 * @param {Profiles.Page} page
 * @param {Body.Progress} progress
 */
export function again(page, progress) {
  const shown = cards.get(page);
  if (!shown) return;
  window.clearTimeout(shown.timer);
  /** @param {Ask} more */
  const request = (more) => setProps(page.store("what"), { data: { ...shown.ask, ...more, turn: [String(Date.now())] } });
  drawProgress(page.find(".ms-job-what-status"), progress, request, { bytes: progress.state === "reading" });
  // The page may have been left meanwhile.
  if (busy(progress)) shown.timer = window.setTimeout(() => page.root.isConnected && request({}), AGAIN_MS);
}
