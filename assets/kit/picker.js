// The run picker: a button with the number of runs on screen, their chips, and the panel to choose them. Written by hand
// because a thousand runs must scroll and filter without a request. Names come from files, so only textContent is set.

import { callbackContext, functionsOf } from "./dash.js";
import { make } from "./elements.js";
import { setLabel, writeText } from "./i18n.js";
import { RunChips } from "./run_chips.js";
import { RunPanel } from "./run_panel.js";
import { colours, encode, forgotten, selected } from "./run_selection.js";
import { changedState, setState } from "./state.js";
import { count } from "./units.js";

/** @import { RunChoice } from "./run_chips.js" */

const functions = functionsOf("mindscope");
/** @type {Map<string, Picker>} */
const pickers = new Map();

/** @type {Record<string, string>} */
const COUNTED = { "picker.of_best": "picker.counted_best", "picker.of_groups": "picker.counted_groups" };

/** @implements {RunChoice} */
class Picker {
  /** @param {HTMLElement} host */
  constructor(host) {
    this.host = host;
    /** @type {Pick<RunList, "rows" | "default" | "usual" | "bestBy" | "groups">} */
    this.runs = { rows: [], default: [], usual: null, bestBy: "", groups: 0 };
    /** @type {Wire.RunRow[]} */
    this.rows = [];
    /** @type {Wire.Query} */
    this.state = {};
    this.store = "";
    /** @type {Set<string>} */
    this.chosen = new Set();
    /** @type {Map<string, string>} */
    this.drawnIn = new Map();
    this.count = make("span", "ms-picker-count");
    this.button = make("button", "ms-button ms-picker-open", [this.count, make("span", "ms-icon ms-icon-down")], {
      type: "button", "aria-haspopup": "dialog", "aria-expanded": "false",
    });
    setLabel(this.button, "title", "picker.open");
    this.button.addEventListener("click", () => this.toggle());
    this.chips = new RunChips(this, () => this.toggle(true, true));
    this.panel = new RunPanel(this, host.id, () => this.leave());
    host.replaceChildren(this.button, this.chips.element, this.panel.element);
    document.addEventListener("pointerdown", ({ target }) => {
      if (this.panel.open && !(target instanceof Node && host.contains(target))) this.toggle(false);
    });
    // Wherever the focus is: whoever presses Escape means what is on top.
    document.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && this.panel.open && !event.defaultPrevented) this.panel.dismiss(event);
    });
  }

  /**
   * @param {RunList} runs
   * @param {Wire.Query | null} state
   * @param {string} store
   */
  update(runs, state, store) {
    this.runs = runs;
    this.rows = runs.rows;
    this.store = store;
    this.take(state || {});
    this.paintButton();
    this.chips.paint();
    if (this.panel.open) this.panel.refilter(true);
  }

  /** @param {Wire.Query} state */
  take(state) {
    const { usual, bestBy, groups } = this.runs;
    this.state = state;
    this.chosen = selected(state, this.runs);
    const some = groups ? "picker.groups" : `picker.${bestBy ? "best" : "newest"}`;
    writeText(this.panel.usual, usual === null ? "picker.every" : some, { n: String(usual) });
    this.drawnIn = colours(this.chosen, this.rows, state);
  }

  paintButton() {
    const shown = this.rows.filter((row) => row.members.some((key) => this.chosen.has(key))).length;
    if (!this.rows.length) writeText(this.count, "picker.none");
    else if (this.rows.length === 1) writeText(this.count, shown ? "picker.one" : "picker.none_of_one");
    else writeText(this.count, this.said(shown), { n: count(shown), total: count(this.rows.length) });
    const ranks = this.rows.reduce((sum, { members }) => sum + members.length, 0);
    const { bestBy, groups } = this.runs;
    const values = { runs: count(this.rows.length), ranks: count(ranks), n: count(shown), tag: bestBy, groups: count(groups) };
    setLabel(this.count, "title", COUNTED[this.said(shown)] || "picker.counted", values);
  }

  /**
   * How runs on screen are counted: while nobody has chosen any, whether these are the best or the newest.
   * @param {number} shown
   */
  said(shown) {
    const { usual, bestBy, groups } = this.runs;
    const { run, of, with: other } = this.state;
    const most = usual !== null && groups ? Math.min(usual, groups) : usual;
    if (most === null || shown < most || shown === this.rows.length || run || of || other) return "picker.of";
    if (groups) return "picker.of_groups";
    return bestBy ? "picker.of_best" : "picker.of_newest";
  }

  /**
   * @param {boolean} [open]
   * @param {boolean} [onlyChosen]
   */
  toggle(open = !this.panel.open, onlyChosen = false) {
    this.button.setAttribute("aria-expanded", String(open));
    if (open) this.panel.show(onlyChosen);
    else this.panel.element.hidden = true;
  }

  leave() {
    this.toggle(false);
    this.button.focus();
  }

  /**
   * @param {string[]} members
   * @param {(key: string, chosen: Set<string>) => boolean} on
   */
  choose(members, on) {
    const next = new Set(this.chosen);
    for (const key of members) {
      if (on(key, this.chosen)) next.add(key);
      else next.delete(key);
    }
    this.write(encode(next, this.rows));
    if (this.panel.open) this.panel.paint();
  }

  /** @param {string[]} run */
  write(run) {
    const change = { run, ...forgotten(this.state, run, this.rows) };
    const state = changedState(this.state, change);
    setState(this.store, this.state, change);
    this.take(state);
    if (this.panel.open) this.panel.paint();
  }
}

/**
 * @param {RunList | null} runs
 * @param {Wire.Query | null} state
 * @param {string} hostId
 */
functions.picker_changed = function (runs, state, hostId) {
  const host = document.getElementById(hostId);
  if (!runs || !host) return;
  let picker = pickers.get(hostId);
  if (!picker || picker.host !== host) {
    picker = new Picker(host);
    pickers.set(hostId, picker);
  }
  const store = callbackContext().inputs_list[1].id;
  picker.update(runs, state, store);
};

/** Open the panel of the picker on screen. */
export function open() {
  for (const picker of pickers.values()) {
    if (picker.host.isConnected && picker.host.offsetParent !== null) {
      picker.toggle(true);
      return;
    }
  }
}
