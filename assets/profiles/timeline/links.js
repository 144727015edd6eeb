// From the timeline to other pages and back: where they tell of a slice, and the slice that a link names.

import { make, words } from "../../kit/elements.js";
import { last } from "../../kit/state.js";
import * as camera from "./camera.js";
import { profileOf, rowText } from "./traces.js";

const KNOWN = 500;
const LEAST_NS = 20;
/** Share of the width that a slice takes which a link leads to. */
const SHARE = 0.06;

/**
 * @param {Timeline.Page} page
 * @param {string} key
 */
const get = (page, key) => last(page.state, key, "");

/**
 * A link to another page about a profile.
 * @param {Timeline.Page} page
 * @param {Profiles.Entry} of
 * @param {string} name
 * @param {string} key
 * @param {Record<string, string>} state
 */
function linkTo(page, of, name, key, state) {
  const query = new URLSearchParams({
    ...(page.state.run ? { run: page.state.run[0] } : {}), of: of.run.key, session: of.profile.session,
    rank: String(of.profile.rank), ...state,
  }).toString();
  const prefix = (page.root.dataset.routes || "").replace(/api\/$/, "");
  return make("a", "ms-button", words(key), { href: `${prefix}${name}?${query}`, "data-page": name, "data-query": query });
}

/**
 * Links to where other pages tell of a slice: its step at once, its operator and its node when the server has found them.
 * @param {Timeline.Page} page
 * @param {Timeline.Slice} slice
 */
export function linksOf(page, slice) {
  const host = make("span", "ms-timeline-links");
  /** @type {HTMLElement[]} */
  const found = [];
  const of = profileOf(page, page.line.facts.tracks[slice.track].part || 0);
  if (!of) return [];
  if (slice.step && of.profile.frames.includes("steps")) {
    found.push(linkTo(page, of, "steps", "timeline.of_step", { step: slice.step }));
  }
  host.replaceChildren(...found);
  relatedTo(page, slice.row).then(({ operator, node }) => {
    const more = [];
    if (operator) more.push(linkTo(page, of, "operators", "timeline.operator", { view: "operators", ...operator }));
    if (node) more.push(linkTo(page, of, "graph", "timeline.node", node));
    host.replaceChildren(...more, ...found);
  }, () => {});
  return [host];
}

/**
 * @param {Timeline.Page} page
 * @param {number} row
 * @returns {Promise<Timeline.Related>}
 */
async function relatedTo(page, row) {
  const { line } = page;
  const known = line.related;
  const before = known.get(row);
  if (before) return before;
  if (known.size > KNOWN) known.clear();
  const asked = line.server.json("related", { row });
  known.set(row, asked);
  asked.catch(() => known.delete(row));
  return asked;
}

/**
 * Select the slice that the state names as the first one of an operator; search for the name if there is none.
 * @param {Timeline.Page} page
 */
export async function goToFirst(page) {
  const name = get(page, "first");
  if (!name) return;
  const { line } = page;
  /** @type {{ row: number | null, start: number, duration: number }} */
  let found = { row: null, start: 0, duration: 0 };
  try {
    found = await line.server.json("first", { name, near: get(page, "near") });
  } catch {
    // The search says what is wrong.
  }
  if (page.line !== line || get(page, "first") !== name) return;
  const done = { first: [], near: [] };
  if (found.row === null) {
    page.change({ ...done, q: [name], regex: [], tab: ["search"] });
    return;
  }
  const span = camera.within(camera.around(found.start, Math.max(found.duration, LEAST_NS), SHARE), line.facts.end);
  page.moving = true;
  page.change({ ...done, slice: [rowText(line.facts, found.row)], tab: [], span: [camera.formatRange(span)] });
}
