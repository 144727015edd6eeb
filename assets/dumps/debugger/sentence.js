// The sentence on top: how many operators have NaN or Inf in the iteration, and which was the first.

import { make, words } from "../../kit/elements.js";
import { count } from "../../kit/units.js";
import { linkTo, request } from "../dumps.js";
import { drawProgress } from "../../kit/progress.js";
import { shortName } from "./display_names.js";

const placeOf = (source) => source.split(" ")[0].split("/").pop();

/** @param {Debugger.Page} page */
export function draw(page) {
  const { health } = page;
  const host = page.find(".ms-debugger-sentence");
  drawProgress(page.find(".ms-debugger-health"), health, (more) => {
    request(page, "sentence", { of: [page.dump.key], mark: [page.listed.mark] }, { more });
  });
  if (!health) return;
  /** @param {number[]} place */
  const here = ([rank, step]) => rank === page.rank && step === page.step;
  const bad = health.bad.find(here);
  const checked = health.checked.find(here);
  const parts = [];
  const cause = (health.causes || []).find((one) => here([one.rank, one.iteration]));
  if (bad || cause) {
    const [many, of] = cause ? [cause.affected, cause.operators] : [bad[2], bad[3]];
    parts.push(words("debugger.said.bad", { n: count(many), of: count(of), step: count(page.step) }));
    if (cause) parts.push(" ", ...first(page, cause));
  } else if (checked) parts.push(words("debugger.said.good", { of: count(checked[2]), step: count(page.step) }));
  else if (health.state === "ready") parts.push(words("debugger.said.unknown", { step: count(page.step) }));
  const others = health.bad.filter((one) => !here(one));
  if (!bad && !cause && others.length) parts.push(" ", ...elsewhere(page, others));
  if (health.state === "ready" && health.bad.length) {
    parts.push(" ", make("a", "", words("debugger.first_cause"), linkTo(page, "first_cause")));
  }
  host.classList.toggle("ms-debugger-wrong", Boolean(bad || cause));
  host.replaceChildren(...parts);
  host.hidden = !parts.length;
}

/** @param {Debugger.Page} page */
function first(page, cause) {
  const name = make("button", "ms-debugger-link", shortName(cause.name), { type: "button", title: cause.name });
  name.addEventListener("click", () => page.change({ node: [cause.name], io: [], box: [] }));
  const key = { here: "first", before: "before", rank: "of_rank", unknown: "first" }[cause.origin];
  const values = { line: placeOf(cause.source), from: shortName(cause.from_name), rank: cause.from_rank };
  const said = words(`debugger.said.${key}`, values);
  const there = cause.origin === "rank" ? [" ", toRank(page, cause)] : [];
  const line = cause.source ? [" ", make("span", "ms-mono", placeOf(cause.source), { title: cause.source })] : [];
  return [said, " ", name, ...line, ".", ...there];
}

/**
 * The operator of the other rank that the values came from.
 * @param {Debugger.Page} page
 */
function toRank(page, { iteration, from_rank: rank, from_name: node }) {
  const label = words("debugger.said.go_rank", { step: count(iteration), rank });
  const go = make("button", "ms-debugger-link", label, { type: "button", title: node });
  const there = { rank: [String(rank)], step: [String(iteration)], node: [node], io: [], box: [] };
  go.addEventListener("click", () => page.change(there));
  return go;
}

/** @param {Debugger.Page} page */
function elsewhere(page, others) {
  const [rank, step, many, of] = [...others].sort((a, b) => a[1] - b[1] || a[0] - b[0])[0];
  const said = words("debugger.said.elsewhere", { n: count(many), of: count(of) });
  const key = rank === page.rank ? "debugger.said.go" : "debugger.said.go_rank";
  const go = make("button", "ms-debugger-link", words(key, { step: count(step), rank }), { type: "button" });
  go.addEventListener("click", () => page.change({ rank: [String(rank)], step: [String(step)] }));
  return [said, " ", go];
}
