// What is said below the table: what decides its order, and how far the forest has come.

import { make, words } from "../../kit/elements.js";
import { setLabel } from "../../kit/i18n.js";
import { last } from "../../kit/state.js";
import { count } from "../../kit/units.js";
import { RUNNING, measure } from "./settings.js";

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

/** @param {Lineage.ResultPage} page */
export function drawForest(page) {
  const box = page.find(".ms-optimisation-grown");
  const growth = page.growth && page.growth.target === page.sheet.target ? page.growth : null;
  box.replaceChildren();
  if (!growth) return;
  if (growth.state === "missing") {
    box.append(words("optimisation.missing"), make("code", "ms-mono", "pip install mindscope[importance]"));
    return;
  }
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
  const name = running ? "stop" : "again";
  box.append(make("button", "ms-button ms-button-small", words(`optimisation.${name}`), { type: "button", "data-act": name }));
}
