// The page about two dumps: tolerance, choice of rows, curve, tables. Counterpart of layouts/dumps/two_dumps.

import { functionsOf } from "../../kit/dash.js";
import { iconButton, make, pressSegment, segments, takesText, words } from "../../kit/elements.js";
import { count } from "../../kit/units.js";
import { language, setLabel } from "../../kit/i18n.js";
import { notYet } from "../../kit/pages.js";
import { showPlainHtml } from "../../kit/plain_html.js";
import { currentPrefs } from "../../kit/prefs.js";
import { askOf, define, firstOther, forget, get, redraw, request } from "../dumps.js";
import * as plots from "../plots.js";
import { drawProgress } from "../../kit/progress.js";

const TOLERANCE = "0.001";
const SHOWN = ["outputs", "differing", "all"];
const TYPING_MS = 300;
const MOST_PARTNERS = 12; // layouts/dumps/two_dumps/page.py

/**
 * A text field that changes the state when somebody stops typing, or on Enter.
 * @param {TwoDumps.Page} page
 */
function field(page, key, className, valid, fallback) {
  const input = make("input", `ms-input ${className}`, [], { type: "text", spellcheck: "false", autocomplete: "off" });
  const put = () => {
    const value = input.value.trim();
    const right = valid(value);
    input.setAttribute("aria-invalid", String(!right));
    if (right) page.change({ [key]: value === "" || value === fallback ? [] : [value] });
  };
  let timer = 0;
  input.addEventListener("input", () => {
    window.clearTimeout(timer);
    timer = window.setTimeout(put, TYPING_MS);
  });
  input.addEventListener("change", put);
  return input;
}

const isTolerance = (text) => text === "" || (/^[0-9.]+(e[+-]?[0-9]+)?$/i.test(text) && Number(text) <= 1e12);

/** @returns {Omit<TwoDumps.Page, keyof Dumps.Page>} */
const fields = () => ({
  tolerance: notYet, findField: notYet, shown: notYet, swap: notYet, automatic: "", searched: "", earliest: null,
});

/** @param {TwoDumps.Page} page */
function build(page) {
  plots.furnish(page);
  page.tolerance = field(page, "tol", "ms-two-dumps-tolerance", isTolerance, TOLERANCE);
  setLabel(page.tolerance, "aria-label", "two_dumps.tolerance");
  page.findField = field(page, "find", "ms-filter", () => true, "");
  setLabel(page.findField, "placeholder", "two_dumps.find");
  setLabel(page.findField, "aria-label", "two_dumps.find");
  page.shown = segments("two_dumps.show", SHOWN.map((value) => [value, `two_dumps.show.${value}`]),
    (value) => page.change({ show: value === SHOWN[0] ? [] : [value] }));
  page.find("[data-card=table] .ms-two-dumps-tools").append(page.findField, page.shown);
  const label = make("label", "ms-field", [words("two_dumps.tolerance", {}, "span", "ms-field-name"), page.tolerance]);
  setLabel(label, "title", "two_dumps.tolerance.tip");
  page.swap = iconButton("swap", "two_dumps.swap", "swap");
  page.swap.addEventListener("click", () => swap(page));
  page.tools.append(label, page.swap);
}

/** @param {Dumps.Page} page */
function swap(page) {
  const { against } = page;
  if (!against) return;
  page.change({
    of: [against.dump.key], rank: [String(against.rank)], step: [String(against.step)], with: [page.dump.key],
    with_rank: [String(page.rank)], with_step: [String(page.step)],
  });
}

// Whether there is anything else to compare with.
const able = ({ catalogue, listed }) => catalogue.dumps.length > 1 || listed.ranks.length > 1 || listed.steps.length > 1;

/**
 * Two trainings are compared in the first iteration that differs, until it is found in their first one; iterations of one
 * training with the one before.
 * @param {TwoDumps.Page} page
 */
function first(page) {
  const { catalogue, listed, earliest } = page;
  if (catalogue.dumps.length < 2 && listed.ranks.length < 2) return null;
  const found = earliest && earliest.of === pairOf(page) ? earliest.step : null;
  return found ?? listed.steps[0] ?? null;
}

/**
 * What the search for the first iteration that differs is about, however the dumps grow.
 * @param {TwoDumps.Page} page
 */
const pairOf = (page) => JSON.stringify([page.dump.key, ...["rank", "with", "with_rank", "tol"].map((key) => get(page, key))]);

/**
 * Whether it is searched: not if somebody chose an iteration, nor for two iterations of the same training.
 * @param {TwoDumps.Page} page
 */
function searches(page) {
  const { against, dump, rank } = page;
  if (!against || get(page, "step") || get(page, "with_step")) return false;
  return against.dump.key !== dump.key || against.rank !== rank;
}

/** @param {TwoDumps.Page} page */
function search(page, more = {}) {
  const question = askOf(page);
  delete question.step;
  delete question.with_step;
  if (get(page, "tol")) question.tol = [get(page, "tol")];
  page.searched = pairOf(page);
  request(page, "earliest", question, { more });
}

/**
 * What is known of other iterations.
 * @param {TwoDumps.Page} page
 */
function drawEarliest(page) {
  const { earliest, against, step, listed } = page;
  const host = page.find(".ms-two-dumps-earliest");
  const known = earliest && earliest.of === pairOf(page) ? earliest : null;
  const parts = [];
  if (known && known.step !== null) {
    parts.push(words("two_dumps.earliest", { step: count(known.step) }));
    if (known.alike) parts.push(" ", words("two_dumps.alike", { n: count(known.alike) }));
    if (known.step !== step || against.step !== step) {
      const go = make("button", "ms-button ms-button-quiet", words("two_dumps.earliest_go", { step: count(known.step) }),
        { type: "button" });
      go.addEventListener("click", () => page.change({ step: [String(known.step)], with_step: [] }));
      parts.push(" ", go);
    }
  } else if (known) parts.push(noneDiffers(known));
  else if (!searches(page) && listed.steps.length > 1) parts.push(words("two_dumps.one_iteration"));
  host.replaceChildren(...parts);
  host.hidden = !parts.length;
}

/**
 * Without an iteration that differs: how many were compared, or why none was.
 * @param {{ alike: number, shared: number }} found
 */
function noneDiffers({ alike, shared }) {
  if (!shared) return words("two_dumps.no_iteration_shared");
  if (!alike) return words("two_dumps.none_comparable", { n: count(shared) });
  if (alike < shared) return words("two_dumps.some_alike", { n: count(alike), left: count(shared - alike) });
  return words("two_dumps.all_alike", { n: count(alike) });
}

/**
 * @param {HTMLInputElement} input
 * @param {string} value
 */
function write(input, value) {
  if (document.activeElement !== input && input.value !== value) input.value = value;
}

/** @param {TwoDumps.Page} page */
function draw(page) {
  plots.drawFull(page);
  page.controls.compare.hidden = true;
  // Two dumps are what this page is about: something to compare with is chosen at once.
  const second = page.against || !able(page) || get(page, "with") ? null : firstOther(page);
  if (second && second.with && page.catalogue.dumps.length > 2) askPartner(page);
  else if (second) chooseSecond(page, second);
  else passOver(page);
  const two = Boolean(page.against);
  page.find(".ms-two-dumps-none").hidden = able(page);
  page.find(".ms-two-dumps-cards").hidden = !two;
  page.swap.hidden = !two;
  write(page.tolerance, get(page, "tol", TOLERANCE));
  write(page.findField, get(page, "find"));
  pressSegment(page.shown, get(page, "show", SHOWN[0]));
  const wanted = searches(page);
  if (!wanted) drawProgress(page.find(".ms-two-dumps-searching"), null);
  if (!two) return;
  drawEarliest(page);
  request(page, "compare", question(page));
  if (wanted) search(page);
}

/** @param {TwoDumps.Page} page */
function chooseSecond(page, second) {
  page.automatic = second.with ? second.with[0] : "";
  page.change(second);
}

/**
 * Of several dumps the server says which one shares most with the chosen one.
 * @param {Dumps.Page} page
 */
function askPartner(page) {
  const among = page.catalogue.dumps.map(([key]) => key).filter((key) => key !== page.dump.key);
  request(page, "partner", { of: [page.dump.key], mark: [page.listed.mark], among: among.slice(0, MOST_PARTNERS) });
}

/**
 * A dump without tensors that nobody chose is passed over if another one is there.
 * @param {TwoDumps.Page} page
 */
function passOver(page) {
  const { unready, automatic, catalogue } = page;
  if (!unready || unready.listed.state !== "nothing" || unready.dump.key !== automatic) return;
  const keys = catalogue.dumps.map(([key]) => key);
  const next = keys.slice(keys.indexOf(automatic) + 1).find((key) => key !== page.dump.key);
  if (!next) return;
  page.automatic = next;
  page.change({ with: [next] });
}

/** @param {TwoDumps.Page} page */
function question(page) {
  const theme = currentPrefs().theme === "dark" ? { theme: ["dark"] } : {};
  const found = { ...askOf(page), lang: [language()], ...theme };
  for (const key of ["tol", "show", "find"]) if (get(page, key)) found[key] = [get(page, key)];
  return found;
}

/** @type {Record<string, (page: TwoDumps.Page, answer: any) => void>} */
const answers = {
  earliest(page, answer) {
    const wanted = searches(page);
    drawProgress(page.find(".ms-two-dumps-searching"), wanted ? answer : null, (more) => search(page, more));
    if (answer.state !== "ready") return;
    page.earliest = { of: page.searched, step: answer.step, alike: answer.alike, shared: answer.shared };
    if (wanted) redraw(page);
    else drawEarliest(page);
  },
  partner(page, answer) {
    if (answer.state === "reading" || page.against || get(page, "with")) return;
    forget(page, "partner");
    chooseSecond(page, answer.key ? { with: [answer.key] } : firstOther(page));
  },
  compare(page, answer) {
    drawProgress(page.find(".ms-two-dumps-status"), answer, (more) => request(page, "compare", question(page), { more }));
    if (!answer.sections) return;
    for (const [name, content] of Object.entries(answer.sections)) {
      showPlainHtml(page.find(`[data-section="${name}"]`), content);
    }
    plots.place(page, "curve", "plot", answer.figure);
    page.find("[data-card=alone]").hidden = !answer.alone;
  },
};

// A press on a point shows its row.
function picked(click, rootId) {
  const page = pageOf(rootId);
  const point = page && click && click.points && click.points[0];
  if (!point) return;
  for (const row of page.root.querySelectorAll("tr.ms-chosen")) row.classList.remove("ms-chosen");
  const row = page.find(`tr[data-place="${Number(point.customdata)}"]`);
  if (!row) return;
  row.classList.add("ms-chosen");
  row.scrollIntoView({ block: "nearest" });
}

const pageOf = define("two_dumps", { fields, build, draw, answers, first });

Object.assign(functionsOf("mindscope_two_dumps"), { picked });

plots.keys("ms-two-dumps", (page, event) => {
  if (event.key !== "x" || takesText(event.target)) return false;
  swap(page);
  return true;
});
