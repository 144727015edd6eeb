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
  const names = new Names([best.run, ...(best.other ? [best.other.run] : [])]);
  /** @param {{ run: string, settings: Record<string, string> }} one */
  const withSetting = ({ run, settings }) => [
    runOf(page, run, names),
    ...(settings[setting] ? [words("optimisation.answer_with", { setting: name, at: cut(settings[setting], 60) })] : []),
  ];
  const first = [
    words("optimisation.answer", { target: cut(targetLabel(page), 60), value: best.value }), ...withSetting(best),
  ];
  const told = trend(page, setting, name);
  if (best.equal > 1) told.unshift(words("optimisation.answer_equal_n", { n: count(best.equal) }));
  else if (best.other) {
    told.unshift(make("span", "ms-optimisation-equal", [words("optimisation.answer_equal"), ...withSetting(best.other)]));
  }
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
  const row = page.sheet.rows.find((one) => one.setting === setting);
  if (row && row.seed) return [words("optimisation.answer_seed", { setting: name })];
  if (!meta || !meta.best) return [];
  const [at, low, high] = meta.best;
  const told = [words("optimisation.answer_trend", { setting: name, at, low, high })];
  const share = row && fitting && !RUNNING.includes(fitting.state) ? strength(page, row, "share") : null;
  if (share && ranked(share)) told.push(words("optimisation.answer_share", { share: percent(share[0]) }));
  return told;
}
