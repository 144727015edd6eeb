// The order of cards by insights: the server tells the severest insights of each tag, a part of the curves with each answer.
// The order changes once, when all are known, and not with new points, so that no card jumps under the pointer.

import { setProps } from "../../kit/dash.js";
import { make } from "../../kit/elements.js";
import { count } from "../../kit/units.js";
import { writeText } from "../../kit/i18n.js";
import { same } from "../../kit/state.js";
import * as strict from "../../kit/strictness.js";
import { orderOf } from "../../kit/cards/arrangement.js";
import * as cards from "../../kit/cards/cards.js";
import { strictness } from "./insights.js";

const AGAIN_MS = 20;

export function note() {
  return make("span", "ms-ranking ms-muted", [], { role: "status", hidden: "" });
}

/**
 * Tags with insights that pass, from the severest to the least; the lowest rank comes first.
 * @param {Map<string, Record<string, [number, number]>>} best of each tag the severest insight of each kind
 * @param {(kind: string, score: number) => boolean} passes
 * @returns {Map<string, number>}
 */
export function rankOf(best, passes) {
  /** @type {{ tag: string, severity: number, score: number }[]} */
  const found = [];
  for (const [tag, kinds] of best) {
    const left = Object.entries(kinds).filter(([kind, [, score]]) => passes(kind, score)).map(([, one]) => one);
    const [first] = left.sort((a, b) => b[0] - a[0] || b[1] - a[1]);
    if (first) found.push({ tag, severity: first[0], score: first[1] });
  }
  found.sort((a, b) => b.severity - a.severity || b.score - a.score);
  return new Map(found.map(({ tag }, at) => [tag, at]));
}

/**
 * Add insights of a part of the curves.
 * @param {Map<string, Curves.Severest>} best
 * @param {Record<string, Curves.Severest>} tags
 */
export function merge(best, tags) {
  for (const [tag, kinds] of Object.entries(tags)) {
    const mine = best.get(tag) || {};
    best.set(tag, mine);
    for (const [kind, [severity, score]] of Object.entries(kinds)) {
      const now = mine[kind] || [-1, -1];
      if (severity > now[0] || (severity === now[0] && score > now[1])) mine[kind] = [severity, score];
    }
  }
}

/** @param {Curves.Page} page */
function send(page) {
  if (!page.ranking) return;
  page.rankings = (page.rankings || 0) + 1;  // Dash ignores an ask that equals the one before it
  const { runs, next } = page.ranking;
  setProps(page.store("ranking-ask"), { data: { run: runs, from: [String(next)], number: [String(page.rankings)] } });
}

/**
 * The ranks of all tags, null until they are known.
 * @param {Curves.Page} page
 */
export function ranks(page) {
  const { ranking } = page;
  if (!ranking || !ranking.done) return null;
  const levels = strictness(page);
  // Marks that are off are no reason not to order by them.
  const chosen = strict.off(levels) ? strict.strictness([]) : levels;
  return rankOf(ranking.best, (kind, score) => strict.passes(chosen, kind, score));
}

/**
 * Called after each change of the state.
 * @param {Curves.Page} page
 */
export function draw(page) {
  const runs = page.state.run || [];
  const wanted = page.paged && orderOf(page.state) === "insights" && page.catalogue;
  const key = [runs, page.catalogue && page.catalogue.runs];
  if (wanted && !(page.ranking && same(page.ranking.key, key))) {
    page.ranking = { key, runs, best: new Map(), next: 0, total: 0, done: false };
    send(page);
  }
  say(page, Boolean(wanted));
}

/**
 * @param {Curves.Page} page
 * @param {boolean} wanted
 */
function say(page, wanted) {
  const element = page.find(".ms-ranking");
  const { ranking } = page;
  element.hidden = !wanted || !ranking || ranking.done || !ranking.total;
  if (!ranking || element.hidden) return;
  writeText(element, "scalars.ranking", { done: count(ranking.next), total: count(ranking.total) });
}

/**
 * @param {Curves.Page} page
 * @param {Curves.RankingAnswer} answer
 */
export function received(page, answer) {
  const { ranking } = page;
  if (!ranking || ranking.done || answer.from !== ranking.next) return;  // of another selection of runs
  merge(ranking.best, answer.tags);
  Object.assign(ranking, { next: answer.next, total: answer.total, done: answer.next >= answer.total });
  if (ranking.done) cards.rearrange(page);
  else if (orderOf(page.state) === "insights") window.setTimeout(() => page.root.isConnected && send(page), AGAIN_MS);
  else page.ranking = null;
  say(page, Boolean(page.ranking) && orderOf(page.state) === "insights");
}
