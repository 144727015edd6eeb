// The tree of operators: scopes, search, type of node; with a watchpoint being edited, which operators it is about.

import { fillSelect, iconButton, make, select, words } from "../../kit/elements.js";
import { count } from "../../kit/units.js";
import { setLabel, translate, writeText } from "../../kit/i18n.js";
import { toggled } from "../../kit/state.js";
import { askOf, get, request } from "../dumps.js";
import { notYet } from "../../kit/pages.js";
import { rowList } from "../rows.js";
import * as choice from "./number_ranges.js";
import * as watch from "./watch.js";
import { hitBadge } from "./display_names.js";

const HEIGHT = 24;
const WAIT_MS = 180;
const KINDS = ["all", "weight", "gradient", "activation"];

/** @returns {Pick<Debugger.TreeFields, "nodeRows" | "nodeControls" | "nodesOf" | "soughtNode">} */
export const fields = () => ({ nodeRows: notYet, nodeControls: notYet, nodesOf: null, soughtNode: "" });

/** @param {Debugger.Page} page */
export function build(page) {
  const pane = page.find('[data-pane="nodes"]');
  const input = make("input", "ms-input ms-filter ms-grow", [], { type: "search", autocomplete: "off", spellcheck: "false" });
  for (const name of ["placeholder", "aria-label"]) setLabel(input, name, "debugger.search");
  let timer = 0;
  input.addEventListener("input", () => {
    window.clearTimeout(timer);
    timer = window.setTimeout(() => page.change({ q: input.value ? [input.value] : [] }), WAIT_MS);
  });
  const regex = make("button", "ms-button ms-mono", ".*", { type: "button", "aria-pressed": "false" });
  for (const name of ["title", "aria-label"]) setLabel(regex, name, "debugger.regex");
  regex.addEventListener("click", () => page.change({ regex: get(page, "regex") === "1" ? [] : ["1"] }));
  const kind = select("debugger.kind", (value) => page.change({ kind: value === "all" ? [] : [value] }));
  const take = make("button", "ms-button ms-button-small", words("debugger.watch_found"), { type: "button", hidden: "" });
  take.addEventListener("click", () => watch.addFound(page));
  page.nodeControls = { input, regex, kind, take };
  pane.querySelector(".ms-debugger-tools").replaceChildren(input, regex, kind, take);
  page.nodeRows = rowList(pane.querySelector(".ms-debugger-rows"), {
    height: HEIGHT,
    draw: (row) => line(page, row),
    ask: (first, many) => send(page, first, many),
  });
}

/**
 * @param {Debugger.Page} page
 * @returns {Wire.Query}
 */
export function ask(page) {
  /** @type {Wire.Query} */
  const found = { ...askOf(page), watch: [watch.enabledJson(page)] };
  for (const key of ["q", "regex", "kind", "tree", "node"]) if ((page.state[key] || []).length) found[key] = page.state[key];
  return found;
}

/**
 * Hits in this iteration: when they change, their numbers in the tree do.
 * @param {Debugger.Page} page
 */
export function hitsHere(page) {
  const here = (page.hits ? page.hits.steps : []).find(([rank, step]) => rank === page.rank && step === page.step);
  return [String(here ? here[2] : 0)];
}

/** @param {Debugger.Page} page */
function send(page, first, many) {
  request(page, "tree", { ...ask(page), hits: hitsHere(page), first: [String(first)], count: [String(many)] });
}

/** @param {Debugger.Page} page */
export function draw(page) {
  const { input, regex, kind, take } = page.nodeControls;
  if (document.activeElement !== input && input.value !== get(page, "q")) input.value = get(page, "q");
  regex.setAttribute("aria-pressed", String(get(page, "regex") === "1"));
  fillSelect(kind, KINDS.map((one) => [one, translate(`debugger.kind.${one}`)]), get(page, "kind", "all"));
  take.hidden = !page.draft || (get(page, "q") === "" && get(page, "kind", "all") === "all");
  const wanted = ask(page);
  const of = JSON.stringify([wanted.q, wanted.kind, wanted.rank, wanted.of]);
  if (page.nodesOf !== null && page.nodesOf !== of) page.nodeRows.reset();
  page.nodesOf = of;
  const [first, many] = page.nodeRows.window();
  send(page, first, many);
  page.nodeRows.repaint();
}

/** @param {Debugger.Page} page */
export function take(page, answer) {
  const pane = page.find('[data-pane="nodes"]');
  const note = pane.querySelector(".ms-debugger-note");
  page.nodeRows.put(answer);
  const searched = get(page, "q") !== "" || get(page, "kind", "all") !== "all";
  note.hidden = answer.state !== "refused" && !searched;
  note.classList.toggle("ms-wrong-text", answer.state === "refused");
  const found = { n: count(answer.names || 0), total: count(answer.all || 0) };
  if (answer.state === "refused") writeText(note, "debugger.refused", { text: answer.text });
  else writeText(note, answer.names ? "debugger.names_found" : "debugger.names_none", found);
  // The selected operator is scrolled to once.
  const node = get(page, "node");
  if (!node || answer.at < 0) return;
  if (page.soughtNode !== node) page.nodeRows.seek(answer.at);
  page.soughtNode = node;
}

/** @param {Debugger.Page} page */
function line(page, [kind, name, label, depth, first, end, many, open, hits, type]) {
  const parts = [];
  const isScope = kind === "scope";
  if (page.draft) parts.push(box(page, first, end, isScope));
  if (isScope) {
    const arrow = iconButton(open ? "down" : "right", open ? "debugger.close" : "debugger.open", "");
    arrow.removeAttribute("data-act");
    arrow.addEventListener("click", () => page.change({ tree: toggled(page.state, "tree", name) }));
    parts.push(arrow);
  } else parts.push(make("span", "ms-debugger-leaf"));
  const shown = name === "parameters:" ? words("debugger.parameters") : make("span", "ms-cut ms-name", label);
  const text = make("button", "ms-debugger-name", [shown], { type: "button", title: isScope ? name : `${name}\n${type}` });
  if (hits) text.append(hitBadge(hits));
  else if (isScope) text.append(make("span", "ms-muted ms-number", count(many)));
  text.addEventListener("click", () => {
    if (isScope) page.change({ tree: toggled(page.state, "tree", name) });
    else page.change({ node: [name], io: [], box: [] });
  });
  const made = make("div", "ms-debugger-branch", [...parts, text], {
    role: "treeitem", "aria-level": String(depth + 1), "aria-selected": String(!isScope && name === get(page, "node")),
  });
  if (isScope) made.setAttribute("aria-expanded", String(open));
  made.style.paddingLeft = `${Math.min(depth, 12) * 12}px`;
  return made;
}

/**
 * @param {Debugger.Page} page
 * @param {boolean} isScope
 */
function box(page, first, end, isScope) {
  const { ranges } = page.draft;
  const inside = choice.within(ranges, first, end);
  const made = make("input", "ms-debugger-box", [], { type: "checkbox" });
  made.checked = inside === end - first;
  made.indeterminate = inside > 0 && inside < end - first;
  setLabel(made, "aria-label", isScope ? "debugger.watch_scope" : "debugger.watch_node");
  made.addEventListener("change", () => {
    watch.setRanges(page, made.checked ? choice.added(ranges, first, end) : choice.removed(ranges, first, end));
  });
  return made;
}
