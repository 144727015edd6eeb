// What is said below the table: what decides its order, and how far the forest has come.

import { make, words } from "../../kit/elements.js";
import { setLabel } from "../../kit/i18n.js";
import { last } from "../../kit/state.js";
import { count } from "../../kit/units.js";
import { RUNNING, measure, named } from "./settings.js";

/** @param {Lineage.ResultPage} page */
export function drawNote(page) {
  const box = page.find(".ms-optimisation-note");
  const { runs } = page.sheet;
  const bare = page.sheet.rows.every((row) => row.reason);
  box.replaceChildren(
    words(
      !page.sheet.rows.length
        ? "optimisation.no_settings"
        : runs < 3
          ? "optimisation.too_few"
          : bare
            ? "optimisation.no_number"
            : "optimisation.association",
      { n: count(runs) },
    ),
  );
  if (runs < 3 || bare || last(page.state, "by", "")) return;
  const fit = measure(page) === "share" && page.growth ? page.growth.fit : null;
  if (fit === null) box.append(" ", words("optimisation.by_low"));
  else box.append(" ", words("optimisation.by_forest", { fit: fit.toFixed(2) }));
}

/**
 * Which settings need not be varied any more.
 * @param {Lineage.ResultPage} page
 * @param {Lineage.Growth} growth
 */
function alone(page, growth) {
  if (growth.alone === null) return [words("optimisation.free_not_judged")];
  /** @param {string[]} settings */
  const names = (settings) => ({ names: settings.map((one) => named(page, one)).join(", ") });
  const parts = [words(growth.alone.length ? "optimisation.free" : "optimisation.free_none", names(growth.alone))];
  if (growth.unsure.length) parts.push(words("optimisation.free_unsure", names(growth.unsure)));
  return parts;
}

/** @param {Lineage.ResultPage} page */
export function drawForest(page) {
  const box = page.find(".ms-optimisation-grown");
  const growth = page.growth && page.growth.target === page.sheet.target ? page.growth : null;
  box.replaceChildren();
  if (!growth) return;
  if (growth.reason) {
    box.append(words(`optimisation.forest_${growth.reason}`));
    return;
  }
  const running = RUNNING.includes(growth.state);
  const state = growth.state === "left" ? "waiting" : growth.state;
  const key = `optimisation.${state}`;
  box.append(words(key, { n: growth.done, total: growth.total, text: growth.text }));
  if (growth.fit !== null) {
    const fit = words(growth.fit > 0.05 ? "optimisation.fit" : "optimisation.no_fit", { fit: growth.fit.toFixed(2) });
    setLabel(fit, "title", "optimisation.fit_tip");
    box.append(fit);
  }
  if (running) {
    const shares = { max: String(growth.total), value: String(growth.done) };
    const progress = make("progress", "ms-optimisation-progress", [], shares);
    setLabel(progress, "aria-label", "optimisation.share");
    box.append(progress);
  }
  if (!running && growth.done > 1) box.append(make("p", "ms-optimisation-alone", alone(page, growth)));
  const name = running ? "stop" : "again";
  box.append(make("button", "ms-button ms-button-small", words(`optimisation.${name}`), { type: "button", "data-act": name }));
}
