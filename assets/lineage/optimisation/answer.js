// The sentence above the cards: which run is best, with which setting, and what the trend over that setting says.

import { make, words } from "../../kit/elements.js";
import { Names } from "../../kit/names.js";
import { count, percent } from "../../kit/units.js";
import { cut } from "../columns.js";
import { runOf } from "./pairs.js";
import { RUNNING, chosenSetting, named, ranked, strength, targetLabel } from "./settings.js";

/** @param {Lineage.ResultPage} page */
export function answer(page) {
  const host = page.find(".ms-optimisation-answer");
  const { best } = page.sheet;
  host.hidden = !best;
  if (!best) return;
  const setting = chosenSetting(page);
  const name = cut(named(page, setting), 60);
  const first = [
    words("optimisation.answer", { target: cut(targetLabel(page), 60), value: best.value }),
    runOf(page, best.run, new Names([best.run])),
  ];
  const at = best.settings[setting];
  if (at) first.push(words("optimisation.answer_with", { setting: name, at: cut(at, 60) }));
  const told = trend(page, setting, name);
  if (best.equal) told.unshift(words(`optimisation.answer_equal${best.equal > 1 ? "_n" : ""}`, { n: count(best.equal) }));
  host.replaceChildren(make("p", "ms-optimisation-sentence", first), make("p", "ms-muted ms-optimisation-trend", told),
    make("p", "ms-muted ms-optimisation-basis", words("optimisation.answer_basis")));
}

/**
 * What the trend and the shares say of the setting on screen.
 * @param {Lineage.ResultPage} page
 * @param {string} setting
 * @param {string} name
 */
function trend(page, setting, name) {
  const { drawing, fitting } = page;
  const meta = drawing && drawing.setting === setting && drawing.figure ? drawing.figure.layout.meta : null;
  if (!meta || !meta.best) return [];
  const [at, low, high] = meta.best;
  const told = [words("optimisation.answer_trend", { setting: name, at, low, high })];
  const row = page.sheet.rows.find((one) => one.setting === setting);
  const share = row && fitting && !RUNNING.includes(fitting.state) ? strength(page, row, "share") : null;
  if (share && ranked(share)) told.push(words("optimisation.answer_share", { share: percent(share[0]) }));
  return told;
}
