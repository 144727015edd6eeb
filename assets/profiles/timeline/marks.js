// Named marks: the one or two times set with M, saved with the notes of the run, listed in a menu; flags.js
// names them on the ruler.

import { icon, iconButton, make, menu, words } from "../../kit/elements.js";
import { setLabel } from "../../kit/i18n.js";
import * as notes from "../../kit/notes.js";
import { poll } from "../../kit/polling.js";
import { reasonOf } from "../../kit/reasons.js";
import { last, same } from "../../kit/state.js";
import { duration } from "../axis.js";
import * as camera from "./camera.js";
import * as lines from "./line.js";
import { exactTime } from "../../kit/units.js";

const LONGEST_NAME = 100;  // layouts/runs/notes.py
const LEAST_NS = 20;
/** Two marks that take less of the width are zoomed to. */
const LEAST_SHARE = 0.05;

/**
 * The menu of marks and its parts.
 * @param {Timeline.Page} page
 * @returns {Timeline.MarkFields}
 */
export function markFields(page) {
  const label = make("summary", "ms-button ms-button-icon", icon("flag"));
  for (const name of ["title", "aria-label"]) setLabel(label, name, "timeline.marks");
  const field = make("input", "ms-input ms-grow", [], { type: "text", maxlength: String(LONGEST_NAME), autocomplete: "off" });
  for (const name of ["placeholder", "aria-label"]) setLabel(field, name, "timeline.mark_name");
  const save = make("button", "ms-button", words("timeline.mark_save"), { type: "submit" });
  const form = make("form", "ms-timeline-marks-form", [field, save]);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (field.value.trim()) saveMark(page, field.value);
    else field.focus();
  });
  const about = make("p", "ms-muted");
  const message = make("div", "", [], { role: "alert", hidden: "" });
  const list = make("ul", "ms-timeline-marks-list");
  const element = menu(label, [about, form, message, list]);
  element.classList.add("ms-timeline-marks");
  element.addEventListener("toggle", () => {
    page.marks.sure = "";
    say(page);
    drawMarkList(page);
    if (element.open && !form.hidden) field.focus();
  });
  window.addEventListener("mindscope:notes", () => page.line && takeMarks(page));
  return { marks: { field, form, about, message, list, sure: "", element }, book: null };
}

/**
 * @param {Timeline.Page} page
 * @param {...HTMLElement} parts
 */
function say(page, ...parts) {
  page.marks.message.hidden = !parts.length;
  page.marks.message.replaceChildren(...parts);
}

/** @param {Timeline.Line} line */
const shiftOf = (line) => (line.facts.parts ? line.facts.parts[0].shift : 0);

/**
 * Bring the marks of this profile up to date: line.named has { name, times (ns on the axis), mark }.
 * @param {Timeline.Page} page
 */
export function takeMarks(page) {
  const { line, run, profile } = page;
  page.book = notes.bookOf(page.root);
  const all = ((page.book && page.book.marks) || {})[run.key] || [];
  const shift = shiftOf(line);
  line.named = all.filter((mark) => mark.session === profile.session && mark.rank === profile.rank)
    .map((mark) => ({ name: mark.name, times: mark.times.map((time) => time + shift), mark }));
  drawMarkList(page);
  lines.redraw(line);
}

/**
 * @param {Timeline.Page} page
 * @param {Record<string, unknown>} asked
 */
async function post(page, asked) {
  try {
    const answer = await notes.post(page.root.dataset.routes || "", "mark", asked);
    poll();
    return answer;
  } catch (error) {
    say(page, words("notes.failed", { text: reasonOf(error) }, "p", "ms-note-wrong"));
    return null;
  }
}

/**
 * @param {Timeline.Page} page
 * @param {string} name
 * @param {string} [instead]
 */
async function saveMark(page, name, instead) {
  const { line, run, profile } = page;
  if (!line || !line.marks.length) return;
  const times = line.marks.map((time) => Math.round(time - shiftOf(line)));
  const asked = { save: name, run: run.key, session: profile.session, rank: profile.rank, times };
  const answer = await post(page, instead ? { ...asked, instead } : asked);
  if (!answer) return;
  if (answer.done) {
    page.marks.field.value = "";
    say(page);
    page.change({ called: [answer.now.name] });
    return;
  }
  const replace = make("button", "ms-button ms-button-small", words("timeline.mark_replace"), { type: "button" });
  replace.addEventListener("click", () => saveMark(page, name, answer.now.version));
  say(page, words("timeline.mark_taken", {}, "p"), replace);
  replace.focus();
}

/**
 * @param {Timeline.Page} page
 * @param {Wire.Mark} mark
 */
async function removeMark(page, mark) {
  const answer = await post(page, { delete: mark.key, was: mark.version });
  page.marks.sure = "";
  if (answer && !answer.done) say(page, words("timeline.mark_changed", {}, "p"));
  if (answer && answer.done && last(page.state, "called") === mark.name) page.change({ called: [] });
}

/**
 * @param {Timeline.Page} page
 * @param {Timeline.NamedMark} mark
 */
function openMark(page, { name, times }) {
  const { line } = page;
  const { range } = line;
  const [from, to] = [times[0], times[times.length - 1]];
  const small = to - from < (range.to - range.from) * LEAST_SHARE;
  if (times.length < 2) lines.show(line, camera.showing(range, from));
  else if (from < range.from || to > range.to || small) lines.show(line, camera.around(from, Math.max(to - from, LEAST_NS)));
  page.change({ mark: times.map(String), called: [name] });
  page.marks.element.open = false;
}

/**
 * The list in the menu, and whether there is anything to save.
 * @param {Timeline.Page} page
 */
export function drawMarkList(page) {
  const { line, marks, book } = page;
  if (!marks || !marks.element.open || !line) return;
  const kept = Boolean(book && book.kept);
  marks.form.hidden = !kept || !line.marks.length;
  const [from, to] = line.marks;
  const key = !line.marks.length ? "timeline.mark_none" : to === undefined ? "timeline.mark_one" : "timeline.mark_two";
  const text = kept ? words(key, line.marks.length ? timesOf(line, [from, to].filter((time) => time !== undefined)) : {})
    : book ? notes.refusal(book) : "";
  marks.about.replaceChildren(text);
  marks.list.replaceChildren(...(line.named || []).map((one) => entry(page, one, kept)));
}

/**
 * @param {Timeline.Line} line
 * @param {number[]} times
 */
function timesOf(line, times) {
  const sorted = times.slice().sort((a, b) => a - b);
  return { at: exactTime(sorted[0] - line.zero), length: duration(sorted[sorted.length - 1] - sorted[0]) };
}

/**
 * @param {Timeline.Page} page
 * @param {Timeline.NamedMark} one
 * @param {boolean} kept
 */
function entry(page, one, kept) {
  const open = make("button", "ms-timeline-mark", [
    make("span", "ms-cut ms-name", one.name),
    words(one.times.length > 1 ? "timeline.mark_two" : "timeline.mark_one", timesOf(page.line, one.times), "span", "ms-muted"),
  ], { type: "button" });
  if (same(page.state.mark || [], one.times.map(String))) open.setAttribute("aria-current", "true");
  open.addEventListener("click", () => openMark(page, one));
  if (!kept) return make("li", "", open);
  if (page.marks.sure === one.mark.key) {
    const sure = make("button", "ms-button ms-button-small", words("timeline.mark_delete"), { type: "button" });
    sure.addEventListener("click", () => removeMark(page, one.mark));
    return make("li", "", [open, sure]);
  }
  const remove = iconButton("trash", "timeline.mark_delete", "delete");
  setLabel(remove, "aria-label", "timeline.mark_delete_one", { name: one.name });
  remove.addEventListener("click", () => {
    page.marks.sure = one.mark.key;
    drawMarkList(page);
    const button = marksButton(page);
    if (button) button.focus();
  });
  return make("li", "", [open, remove]);
}

/** @param {Timeline.Page} page */
const marksButton = (page) => page.marks.list.querySelector(".ms-button-small");
