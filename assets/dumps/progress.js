// How far work on a dump is: a text, a bar, and buttons that stop and resume it (layouts/dumps/body.py: progress_line).

import { count, size } from "../kit/units.js";
import { writeText } from "../kit/i18n.js";
import { busy } from "../kit/parts.js";

const SHOWN = ["reading", "working", "waiting", "cancelled", "failed"];
const MANY = 1_000_000;

/** Show an answer of the server in the line host; act(more) asks again with cancel or again, if it can be stopped. */
export function drawProgress(host, answer, act = null) {
  const state = answer ? answer.state : "ready";
  host.hidden = !SHOWN.includes(state);
  if (host.hidden) return;
  const { done = 0, total = 0, text = "" } = answer;
  const key = state === "failed" ? "work_failed" : state === "working" && !total ? "preparing" : state;
  const line = host.querySelector(".ms-debugging-text");
  const shown = total >= MANY ? [size(done), size(total)] : [count(done), count(total)];
  writeText(line, `debugging.${key}`, { done: shown[0], total: shown[1], text });
  line.classList.toggle("ms-debugging-wrong", state === "failed");
  const going = busy(answer);
  const bar = host.querySelector("progress");
  bar.hidden = !going || !total;
  bar.value = total ? done / total : 0;
  const [cancel, again] = ["cancel", "again"].map((name) => host.querySelector(`[data-act="${name}"]`));
  cancel.hidden = !going || !act;
  again.hidden = going || !act;
  cancel.onclick = () => act({ cancel: ["1"] });
  again.onclick = () => act({ again: ["1"] });
}
