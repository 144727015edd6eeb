// Source files and their lines: own code before packages; a line shows the operators that it made.

import { iconButton, make, words } from "../../kit/elements.js";
import { count } from "../../kit/units.js";
import { setLabel, writeText } from "../../kit/i18n.js";
import { toggled } from "../../kit/state.js";
import { get, request } from "../dumps.js";
import { drawProgress } from "../../kit/progress.js";
import { notYet } from "../../kit/pages.js";
import { rowList } from "../rows.js";
import * as watch from "./watch.js";
import { shortName } from "./display_names.js";

const HEIGHT = 24;
const WAIT_MS = 180;

/** @returns {Pick<Debugger.TreeFields, "lineRows" | "lineInput">} */
export const fields = () => ({ lineRows: notYet, lineInput: notYet });

/** @param {Debugger.Page} page */
export function build(page) {
  const pane = page.find('[data-pane="lines"]');
  const input = make("input", "ms-input ms-filter ms-grow", [], { type: "search", autocomplete: "off", spellcheck: "false" });
  for (const name of ["placeholder", "aria-label"]) setLabel(input, name, "debugger.search_lines");
  let timer = 0;
  input.addEventListener("input", () => {
    window.clearTimeout(timer);
    timer = window.setTimeout(() => page.change({ lq: input.value ? [input.value] : [] }), WAIT_MS);
  });
  page.lineInput = input;
  pane.querySelector(".ms-debugger-tools").replaceChildren(input);
  page.lineRows = rowList(pane.querySelector(".ms-debugger-rows"), {
    height: HEIGHT,
    draw: (row) => line(page, row),
    ask: (first, many) => send(page, first, many),
  });
}

/** @param {Debugger.Page} page */
function ask(page) {
  const found = { of: [page.dump.key], rank: [String(page.rank)], mark: [page.listed.mark] };
  for (const [key, name] of [["lq", "q"], ["files", "files"], ["lines", "lines"]]) {
    if ((page.state[key] || []).length) found[name] = page.state[key];
  }
  return found;
}

/** @param {Debugger.Page} page */
function send(page, first, many, options = {}) {
  request(page, "lines", { ...ask(page), first: [String(first)], count: [String(many)] }, options);
}

/** @param {Debugger.Page} page */
export function draw(page) {
  if (document.activeElement !== page.lineInput && page.lineInput.value !== get(page, "lq")) {
    page.lineInput.value = get(page, "lq");
  }
  const [first, many] = page.lineRows.window();
  send(page, first, many);
  page.lineRows.repaint();
}

/** @param {Debugger.Page} page */
export function take(page, answer) {
  page.lineRows.put(answer);
  const pane = page.find('[data-pane="lines"]');
  drawProgress(pane.querySelector(".ms-body-status"), answer.progress, (more) => {
    const [first, many] = page.lineRows.window();
    send(page, first, many, { more });
  });
  const note = pane.querySelector(".ms-debugger-note");
  note.hidden = answer.state !== "ready" || answer.total > 0;
  writeText(note, get(page, "lq") ? "debugger.lines_none_found" : "debugger.lines_none");
}

/** @param {Debugger.Page} page */
function line(page, [kind, name, ...rest]) {
  if (kind === "file") {
    const [many, open] = rest;
    const arrow = iconButton(open ? "down" : "right", open ? "debugger.close" : "debugger.open", "");
    arrow.removeAttribute("data-act");
    const toggle = () => page.change({ files: toggled(page.state, "files", name) });
    arrow.addEventListener("click", toggle);
    const text = make("button", "ms-debugger-name", [
      make("span", "ms-cut ms-name", name.split("/").slice(-2).join("/")), make("span", "ms-muted ms-number", count(many)),
    ], { type: "button", title: name });
    text.addEventListener("click", toggle);
    return make("div", "ms-debugger-branch ms-debugger-file", [arrow, text], { "aria-expanded": String(open) });
  }
  if (kind === "line") {
    const [code, many, open, number] = rest;
    const text = make("button", "ms-debugger-name ms-mono", [
      make("span", "ms-debugger-number ms-muted", String(number)), make("span", "ms-cut", code || "–"),
      make("span", "ms-muted ms-number", count(many)),
    ], { type: "button", title: `${name}\n${code}`, "aria-expanded": String(open) });
    text.addEventListener("click", () => page.change({ lines: toggled(page.state, "lines", name) }));
    const parts = [text];
    if (page.draft) {
      const add = make("button", "ms-button ms-button-small", words("debugger.watch_line"), { type: "button" });
      add.addEventListener("click", () => watch.addLine(page, name));
      parts.push(add);
    }
    return make("div", "ms-debugger-branch ms-debugger-line", parts);
  }
  const scope = name.split("/").slice(-2, -1);
  const label = [make("span", "ms-cut", [shortName(name), " ", make("span", "ms-muted", scope)])];
  const text = make("button", "ms-debugger-name", label, {
    type: "button", title: name, "aria-current": String(name === get(page, "node")),
  });
  text.addEventListener("click", () => page.change({ node: [name], io: [], box: [] }));
  return make("div", "ms-debugger-branch ms-debugger-of-line", [text]);
}
