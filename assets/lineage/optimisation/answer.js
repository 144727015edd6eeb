// The sentence above the cards: which run is best, with which setting, and what the trend over that setting says.

import { make, words } from "../../kit/elements.js";
import { Names } from "../../kit/names.js";
import { count, percent } from "../../kit/units.js";
import { cut } from "../columns.js";
import { runOf } from "./pairs.js";
import { RUNNING, chosenSetting, named, ranked, sorted, strength, targetLabel } from "./settings.js";

const SETTINGS = 4;

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
  const withSetting = ({ run, settings }) => {
    const shown = told(page, setting, settings);
    return [runOf(page, run, names), ...(shown ? [words("optimisation.answer_with", { settings: shown })] : [])];
  };
  const first = [
    words("optimisation.answer", { target: cut(targetLabel(page), 60), value: best.value }), ...withSetting(best),
  ];
  const below = trend(page, setting, name);
  if (best.equal > 1) below.unshift(words("optimisation.answer_equal_n", { n: count(best.equal) }));
  else if (best.other) {
    below.unshift(make("span", "ms-optimisation-equal", [words("optimisation.answer_equal"), ...withSetting(best.other)]));
  }
  host.replaceChildren(make("p", "ms-optimisation-sentence", first), make("p", "ms-muted ms-optimisation-trend", below),
    make("p", "ms-muted ms-optimisation-basis", [words("optimisation.answer_basis"), " ", tuning()]));
}

/**
 * The settings of a run that tell it from others: the one on screen, then the strongest ones. Seeds are none.
 * @param {Lineage.ResultPage} page
 * @param {string} setting
 * @param {Record<string, string>} settings
 */
function told(page, setting, settings) {
  const others = sorted(page).filter((row) => !row.seed && !row.reason && row.setting !== setting).map((row) => row.setting);
  const shown = [setting, ...others].filter((one) => settings[one] !== undefined).slice(0, SETTINGS);
  return shown.map((one) => `${cut(named(page, one), 60)} ${cut(settings[one], 60)}`).join(", ");
}

/** A link to the trials of searches, which are no runs of the list. */
function tuning() {
  return make("a", "", words("optimisation.answer_tuning"), { href: "tuning", "data-page": "tuning" });
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
  const [least, most] = meta.tried;
  const told = [words("optimisation.answer_trend", { setting: name, at, low, high, least, most })];
  const share = row && fitting && !RUNNING.includes(fitting.state) ? strength(page, row, "share") : null;
  if (share && ranked(share)) told.push(words("optimisation.answer_share", { share: percent(share[0]) }));
  return told;
}
