// What is said below the table: what decides its order, and how far the fitting of shares has come.

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
  const fit = measure(page) === "share" && page.fitting ? page.fitting.fit : null;
  if (fit === null) box.append(" ", words("optimisation.by_low"));
  else box.append(" ", words("optimisation.by_share", { fit: fit.toFixed(2) }));
}

/**
 * Which settings need not be varied any more.
 * @param {Lineage.ResultPage} page
 * @param {Lineage.Fitting} fitting
 */
function alone(page, fitting) {
  if (fitting.alone === null) return [words("optimisation.free_not_judged")];
  /** @param {string[]} settings */
  const names = (settings) => ({ names: settings.map((one) => named(page, one)).join(", ") });
  const parts = [words(fitting.alone.length ? "optimisation.free" : "optimisation.free_none", names(fitting.alone))];
  if (fitting.unsure.length) parts.push(words("optimisation.free_unsure", names(fitting.unsure)));
  return parts;
}

/** @param {Lineage.ResultPage} page */
export function drawFitting(page) {
  const box = page.find(".ms-optimisation-fitting");
  const fitting = page.fitting && page.fitting.target === page.sheet.target ? page.fitting : null;
  box.replaceChildren();
  if (!fitting) return;
  if (fitting.reason) {
    box.append(words(`optimisation.shares_${fitting.reason}`));
    return;
  }
  const running = RUNNING.includes(fitting.state);
  const state = fitting.state === "left" ? "waiting" : fitting.state;
  const key = `optimisation.${state}`;
  box.append(words(key, { n: fitting.done, total: fitting.total, text: fitting.text }));
  if (fitting.fit !== null) {
    const fit = words(fitting.judged ? "optimisation.fit" : "optimisation.no_fit", { fit: fitting.fit.toFixed(2) });
    setLabel(fit, "title", "optimisation.fit_tip");
    box.append(fit);
  }
  if (running) {
    const shares = { max: String(fitting.total), value: String(fitting.done) };
    const progress = make("progress", "ms-optimisation-progress", [], shares);
    setLabel(progress, "aria-label", "optimisation.share");
    box.append(progress);
  }
  if (!running && fitting.done > 1) box.append(make("p", "ms-optimisation-alone", alone(page, fitting)));
  const name = running ? "stop" : "again";
  box.append(make("button", "ms-button ms-button-small", words(`optimisation.${name}`), { type: "button", "data-act": name }));
}
