// The list of problems: what could not be read, where, and what was lost. Texts come from files, so only textContent is set.

import { functionsOf } from "./dash.js";
import { saveCsv } from "./files.js";
import { translations, writeText } from "./i18n.js";
import { mirror } from "./mirrors.js";
import { count, percent } from "./units.js";

const functions = functionsOf("mindscope");
const SHOWN = 500;
const COLUMNS = ["run", "kind", "path", "offset", "length", "text"];
const PLACES = 40;  // of one group
/** @type {Wire.Problems} */
let listed = { rows: [], total: 0, notes: 0, verified: [0, 0], run: "", failed: "", mirrors: [] };

/**
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {string} [name]
 * @param {string} [text]
 */
function make(tag, name, text) {
  const element = document.createElement(tag);
  if (name) element.className = name;
  if (text !== undefined) element.textContent = text;
  return element;
}

/**
 * Group equal problems of a file into one entry with several places.
 * @param {Wire.ProblemRow[]} rows
 */
function grouped(rows) {
  /** @type {Map<string, Wire.ProblemRow[]>} */
  const groups = new Map();
  for (const row of rows) {
    const [run, kind, path, , , text] = row;
    const key = JSON.stringify([run, kind, path, text]);
    groups.set(key, [...(groups.get(key) || []), row]);
  }
  return Array.from(groups.values());
}

/** @param {Wire.ProblemRow[]} group */
function place(group) {
  const element = make("span", "ms-problem-place");
  const [, , , offset, length] = group[0];
  if (group.length > 1) element.textContent = `× ${count(group.length)}`;
  else writeText(element, length > 0 ? "health.place" : "health.at", { offset: count(offset), length: count(length) });
  return element;
}

/** @param {Wire.ProblemRow[]} group */
function places(group) {
  const line = make("div", "ms-problem-places ms-muted");
  const shown = group.slice(0, PLACES).map(([, , , offset]) => count(offset));
  line.append(writeText(make("span"), "health.bytes", { places: shown.join(" · ") }));
  const rest = group.length - shown.length;
  if (rest > 0) line.append(" ", writeText(make("span"), "health.more", { n: count(rest) }));
  return line;
}

/** @param {Wire.ProblemRow[]} group */
function item(group) {
  const [run, kind, path, , , text] = group[0];
  const entry = make("li", "ms-problem");
  const head = make("div", "ms-problem-head");
  head.append(writeText(make("span", kind === "note" ? "ms-badge" : "ms-badge ms-badge-wrong"), `problem.${kind}`));
  head.append(make("span", "ms-problem-run ms-cut ms-name", run), place(group));
  entry.append(head, make("div", "ms-problem-text", text), make("div", "ms-problem-path ms-mono", path));
  if (group.length > 1) entry.append(places(group));
  return entry;
}

/**
 * Number of problems and of notes, and the run if the list is limited to one.
 * @param {Wire.Problems} problems
 */
function summary({ total, notes, run }) {
  const key = total === 0 ? "health.good" : total === 1 ? "health.problem" : "health.problems";
  const line = make("p", "ms-health-line");
  const words = writeText(make("span"), key, { n: count(total) });
  line.append(words);
  if (notes) line.append(writeText(make("span", "ms-muted ms-health-notes"), "health.notes", { n: count(notes) }));
  if (!run) return line;
  const all = writeText(make("button", "ms-button"), "health.all");
  all.type = "button";
  all.dataset.action = "health";
  line.classList.add("ms-health-one");
  line.prepend(make("b", "", run));
  line.append(all);
  return line;
}

/**
 * How many large values have been verified, of how many.
 * @param {Element} host
 * @param {[number, number]} counts
 */
function writeVerified(host, [done, total]) {
  const line = host.querySelector(".ms-health-verified");
  line.hidden = !total;
  if (total) writeText(line, done < total ? "health.verifying" : "health.verified", progress(done, total));
}

/**
 * @param {number} done
 * @param {number} total
 */
export function progress(done, total) {
  return { done: count(done), total: count(total), share: percent(done / total) };
}

/**
 * Update the progress in a list of the problems of all runs.
 * @param {Element | null} host
 * @param {[number, number]} counts
 */
export function verified(host, counts) {
  if (host && !listed.run && host.querySelector(".ms-health-verified")) writeVerified(host, counts);
}

/**
 * @param {Wire.Problems | null} data
 * @param {string} hostId
 */
functions.health_listed = function (data, hostId) {
  const host = document.getElementById(hostId);
  if (!data || !host) return;
  listed = data;
  /** @type {HTMLElement[]} */
  const parts = [...data.mirrors.map(mirror), summary(data)];
  if (data.failed) {
    parts.unshift(writeText(make("p", "ms-health-line ms-health-failed"), "status.failed_title", { text: data.failed }));
  }
  parts.push(make("p", "ms-health-line ms-muted ms-health-verified"));
  const list = make("ul", "ms-problems");
  const groups = grouped(data.rows);
  for (const group of groups.slice(0, SHOWN)) list.append(item(group));
  parts.push(list);
  const shown = groups.slice(0, SHOWN).reduce((sum, group) => sum + group.length, 0);
  const total = data.total + data.notes;
  if (total > shown) {
    parts.push(writeText(make("p", "ms-health-line ms-muted"), "health.shown", { n: count(shown), total: count(total) }));
  }
  host.replaceChildren(...parts);
  writeVerified(host, data.verified);
  host.scrollTop = 0;
};

function plain() {
  return listed.rows
    .map(([run, kind, path, offset, length, text]) => `${run}\t${kind}\t${path}\t${offset}\t${length}\t${text}`)
    .join("\n");
}

/** @param {HTMLElement} button */
export function copy(button) {
  return copyText(button, plain());
}

/**
 * @param {HTMLElement} button
 * @param {string} text
 */
export async function copyText(button, text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch (error) {
    const area = make("textarea", "ms-silent");  // not a secure context, so use the older API
    area.value = text;
    (button.closest("dialog") || document.body).append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
    button.focus({ preventScroll: true });
  }
  const label = button.querySelector(".t");
  if (!label) {
    button.classList.add("ms-done");
    window.setTimeout(() => button.classList.remove("ms-done"), 1200);
    return;
  }
  const words = Array.from(label.children, (part) => part.textContent);
  const done = translations("health.copied");
  Array.from(label.children, (part, i) => (part.textContent = done[i]));
  window.setTimeout(() => Array.from(label.children, (part, i) => (part.textContent = words[i])), 1200);
}

export function save() {
  saveCsv([COLUMNS, ...listed.rows], "mindscope-problems");
}
