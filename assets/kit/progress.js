// How far reading or work is: a text, a bar, and buttons that stop and resume it (layouts/kit/body.py: status_line).

import { writeText } from "./i18n.js";
import { busy } from "./page_parts.js";
import { count, percent, size } from "./units.js";

const SHOWN = ["reading", "working", "waiting", "cancelled", "failed"];
const MANY = 1_000_000;

/**
 * Show an answer of the server in a line; act(more) asks again with cancel or again, if it can be stopped. bytes: done and
 * total are bytes of files, whatever their number, and the state "reading" has a progress. ranks: how many have these files,
 * if that is to be told.
 * @param {HTMLElement} line
 * @param {Body.Progress | null} answer
 * @param {((more: Wire.Query) => void) | null} [act]
 * @param {{ bytes?: boolean, ranks?: number }} [options]
 */
export function drawProgress(line, answer, act = null, { bytes = false, ranks = 1 } = {}) {
  line.hidden = !answer || !SHOWN.includes(answer.state);
  if (!answer || line.hidden) return;
  const { state, done = 0, total = 0, text = "", ahead } = answer;
  const bar = find(line, "progress");
  const preparing = bytes ? state === "reading" && (!done || done >= total) : state === "working" && !total;
  const named = state === "waiting" && ahead ? "waiting_for" : state;
  const key = state === "failed" ? "work_failed" : preparing ? "preparing" : named;
  const words = find(line, ".ms-body-text");
  const unit = bytes || total >= MANY ? size : count;
  const about = ranks > 1 && (key === "reading" || key === "preparing") ? `${key}_ranks` : key;
  /** @type {Record<string, string>} */
  const amounts = { done: unit(done), total: unit(total), text, ranks: count(ranks) };
  if (ahead) Object.assign(amounts, { what: ahead.name, run: ahead.run, read: size(ahead.done), whole: size(ahead.total) });
  writeText(words, `${bar.dataset.name}.${about}`, amounts);
  words.classList.toggle("ms-body-wrong", state === "failed");
  const going = busy(answer);
  line.toggleAttribute("data-going", going);
  bar.hidden = !going || !(total || bytes);
  bar.value = total ? done / total : 0;
  find(line, ".ms-body-share").textContent = going && total && !preparing ? percent(Math.floor(bar.value * 100) / 100) : "";
  const [cancel, again] = ["cancel", "again"].map((name) => find(line, `[data-act="${name}"]`));
  cancel.hidden = !going || !act;
  again.hidden = going || !act;
  cancel.onclick = () => act && act({ cancel: ["1"] });
  again.onclick = () => act && act({ again: ["1"] });
}

/**
 * A child that the layout of a line has.
 * @param {HTMLElement} line
 * @param {string} selector
 */
const find = (line, selector) => /** @type {HTMLProgressElement} */ (line.querySelector(selector));
