// The run picker: chips of the runs on screen, and a panel to choose them. Written by hand because a thousand runs must scroll
// and filter without a request. Names come from files, so only textContent is set.

import { dotButton } from "./colour_box.js";
import { coloursOf } from "./colours.js";
import { callbackContext, functionsOf } from "./dash.js";
import { setLabel, writeText } from "./i18n.js";
import { nameElement, partsOf } from "./names.js";
import { changedState, setState } from "./state.js";
import { count } from "../kit/units.js";

const functions = functionsOf("mindscope");
const FEW = 10;  // more runs than these are named as all of them
const EVERY = "*";
const ROW = 28;
const CHIPS = 24;

function make(tag, name, text) {
  const element = document.createElement(tag);
  if (name) element.className = name;
  if (text !== undefined) element.textContent = text;
  return element;
}

function dot(members, drawn) {
  const background = paint(members, drawn);
  const element = make("span", background ? "ms-dot" : "ms-dot ms-dot-off");
  element.style.background = background;
  return element;
}

// Colour of a run, or slices of the colours of a job; "" if it is not on screen.
export function paint(members, drawn) {
  const shown = members.map((key) => drawn.get(key)).filter(Boolean).slice(0, 4);
  if (shown.length < 2) return shown[0] || "";
  const part = 100 / shown.length;
  return `conic-gradient(${shown.map((colour, i) => `${colour} ${i * part}% ${(i + 1) * part}%`).join(", ")})`;
}

// Selection: a set of member keys -----------------------------------------------------------------------------------

/**
 * The runs on screen: those the state names, or else those that the server chose for this page (`selected_runs` in
 * layouts/state.py), which are `default` in the list of runs.
 * @param {Wire.Query | null | undefined} state
 * @param {Pick<RunList, "rows" | "default">} runs
 */
export function selected(state, { rows, default: chosen }) {
  const keys = (state || {}).run;
  if (!keys || !keys.length) return new Set(chosen);
  const wanted = new Set(keys);
  const whole = wanted.has(EVERY);
  return new Set(
    rows.flatMap((row) => (whole || wanted.has(row.key) ? row.members : row.members.filter((key) => wanted.has(key)))),
  );
}

// Keys that the state names and no run has.
export function gone(state, rows) {
  const there = new Set(rows.flatMap((row) => [row.key, ...row.members]));
  return ((state || {}).run || []).filter((key) => key && key !== EVERY && !there.has(key));
}

// Map of member key -> colour, for the selected runs on a page with this state.
export function colours(chosen, rows, state = null) {
  return new Map([...coloursOf(state, rows)].filter(([key]) => chosen.has(key)));
}

export function encode(chosen, rows) {
  const total = rows.reduce((sum, row) => sum + row.members.length, 0);
  if (chosen.size === 0) return [""];
  if (chosen.size === total && rows.length > FEW) return [EVERY];
  return rows.flatMap((row) => {
    const members = row.members.filter((key) => chosen.has(key));
    return members.length === row.members.length ? [row.key] : members;
  });
}

// Predicate of a search; null for an invalid pattern.
export function matcher(text, regex) {
  if (!text) return () => true;
  if (!regex) {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    return (name) => words.every((word) => name.toLowerCase().includes(word));
  }
  try {
    const pattern = new RegExp(text, "i");
    return (name) => pattern.test(name);
  } catch (error) {
    return null;
  }
}

// The shortest end of a path that distinguishes it from all others.
export function shortName(name, others) {
  const parts = name.split("/");
  for (let count = 1; count < parts.length; count += 1) {
    const short = parts.slice(-count).join("/");
    if (!others.some((other) => other !== name && (other === short || other.endsWith(`/${short}`)))) return short;
  }
  return name;
}

function rankName(row, member) {
  return member.startsWith(`${row.key}/`) ? member.slice(row.key.length + 1) : member;
}

// The widget --------------------------------------------------------------------------------------------------------

const pickers = new Map();

class Picker {
  constructor(host) {
    this.host = host;
    this.runs = { rows: [], default: [], newest: null };
    this.rows = [];
    this.state = {};
    this.store = null;
    this.open = false;
    this.items = [];
    this.active = 0;
    this.anchor = 0;
    this.anchorOn = true;  // whether a range selects or deselects, like its first run
    this.expanded = new Set();
    this.regex = false;
    this.held = null;  // if set, only these members are listed
    this.build();
  }

  build() {
    this.button = make("button", "ms-button ms-picker-open");
    this.button.type = "button";
    this.button.setAttribute("aria-haspopup", "dialog");
    this.button.setAttribute("aria-expanded", "false");
    setLabel(this.button, "title", "picker.open");
    this.count = make("span", "ms-picker-count");
    this.button.append(this.count, make("span", "ms-icon ms-icon-down"));
    this.button.addEventListener("click", () => this.toggle());
    this.chips = make("div", "ms-chips");
    this.panel = make("div", "ms-panel");
    this.panel.hidden = true;
    this.panel.setAttribute("role", "dialog");
    setLabel(this.panel, "aria-label", "picker.open");
    this.panel.append(this.buildSearch(), this.buildTools(), this.buildList(), this.buildHint());
    this.host.replaceChildren(this.button, this.chips, this.panel);
    document.addEventListener("pointerdown", (event) => {
      if (this.open && !this.host.contains(event.target)) this.toggle(false);
    });
    // Wherever the focus is: whoever presses Escape means what is on top.
    document.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && this.open && !event.defaultPrevented) this.dismiss(event);
    });
    new ResizeObserver(() => this.fitChips()).observe(this.chips);
  }

  buildSearch() {
    const line = make("div", "ms-panel-search");
    this.search = make("input", "ms-input ms-grow");
    this.search.type = "search";
    this.search.spellcheck = false;
    this.search.setAttribute("role", "combobox");
    this.search.setAttribute("aria-expanded", "true");
    setLabel(this.search, "placeholder", "picker.search");
    setLabel(this.search, "aria-label", "picker.search");
    this.search.addEventListener("input", () => this.refilter());
    this.search.addEventListener("keydown", (event) => this.key(event));
    this.regexButton = make("button", "ms-button ms-mono", ".*");
    this.regexButton.type = "button";
    this.regexButton.setAttribute("aria-pressed", "false");
    setLabel(this.regexButton, "title", "picker.regex");
    setLabel(this.regexButton, "aria-label", "picker.regex");
    this.regexButton.addEventListener("click", () => {
      this.regex = !this.regex;
      this.regexButton.setAttribute("aria-pressed", String(this.regex));
      this.refilter();
      this.search.focus();
    });
    line.append(this.search, this.regexButton);
    return line;
  }

  buildTools() {
    const line = make("div", "ms-panel-tools");
    const add = (key, values, act) => {
      const button = writeText(make("button", "ms-button"), key, values);
      button.type = "button";
      button.addEventListener("click", act);
      line.append(button);
    };
    add("picker.all", {}, () => this.choose(this.shown(), () => true));
    add("picker.nothing", {}, () => this.choose(this.shown(), () => false));
    add("picker.invert", {}, () => this.choose(this.shown(), (key, chosen) => !chosen.has(key)));
    add("picker.newest", { n: "" }, () => this.write([]));
    this.usual = line.lastChild;
    add("picker.only_chosen", {}, () => this.showOnlyChosen(!this.held));
    this.heldButton = line.lastChild;
    this.heldButton.setAttribute("aria-pressed", "false");
    this.found = make("span", "ms-muted ms-panel-found");
    line.append(this.found);
    return line;
  }

  buildList() {
    this.list = make("div", "ms-panel-list");
    this.list.id = `${this.host.id}-list`;
    this.list.setAttribute("role", "listbox");
    this.list.setAttribute("aria-multiselectable", "true");
    setLabel(this.list, "aria-label", "picker.list");
    this.search.setAttribute("aria-controls", this.list.id);
    this.space = make("div", "ms-panel-space");
    this.list.append(this.space);
    this.list.addEventListener("scroll", () => this.paint());
    this.list.addEventListener("click", (event) => this.click(event));
    return this.list;
  }

  buildHint() {
    return writeText(make("div", "ms-panel-hint ms-muted"), "picker.hint");
  }

  update(runs, state, store) {
    this.runs = runs;
    this.rows = runs.rows;
    this.store = store;
    this.take(state || {});
    this.paintButton();
    this.paintChips();
    if (this.open) this.refilter(true);
  }

  take(state) {
    this.state = state;
    this.chosen = selected(state, this.runs);
    writeText(this.usual, this.runs.newest === null ? "picker.every" : "picker.newest", { n: this.runs.newest });
    this.drawnIn = colours(this.chosen, this.rows, state);
  }

  // Chips -----------------------------------------------------------------------------------------------------------

  onScreen() {
    const all = this.rows.flatMap((row) => {
      const members = row.members.filter((key) => this.chosen.has(key));
      if (!members.length) return [];
      const hand = (key) => Boolean(row.hand[key]);
      if (members.length === row.members.length) return [{ key: row.key, members, name: row.name, byHand: hand(row.key) }];
      return members.map((key) => ({ key, members: [key], name: key, byHand: hand(key) }));
    });
    return all;
  }

  // Short name for when full names do not fit.
  short(name) {
    return shortName(name, this.rows.flatMap((row) => (row.members.length > 1 ? [row.name, ...row.members] : [row.name])));
  }

  paintButton() {
    const shown = this.rows.filter((row) => row.members.some((key) => this.chosen.has(key))).length;
    if (!this.rows.length) writeText(this.count, "picker.none");
    else if (this.rows.length === 1) writeText(this.count, shown ? "picker.one" : "picker.none_of_one");
    else writeText(this.count, "picker.of", { n: count(shown), total: count(this.rows.length) });
    const ranks = this.rows.reduce((sum, { members }) => sum + members.length, 0);
    setLabel(this.count, "title", "picker.counted", { runs: count(this.rows.length), ranks: count(ranks) });
  }

  paintChips() {
    const all = this.onScreen();
    const missing = this.rows.length ? gone(this.state, this.rows) : [];
    const few = all.slice(0, CHIPS).map((one) => ({ ...one, short: this.short(one.name) }));
    this.parts = partsOf(few.map((one) => one.short));
    const signature = JSON.stringify([
      few.map((one) => [one.name, one.short, one.byHand, paint(one.members, this.drawnIn)]),
      all.length,
      missing,
    ]);
    if (signature === this.drawn) return;
    this.drawn = signature;
    this.total = all.length + missing.length;
    const chips = [...missing.slice(0, CHIPS).map((key) => this.goneChip(key)), ...few.map((one) => this.chip(one))];
    this.chips.replaceChildren(...chips, this.moreChip());
    this.fitChips();
  }

  // Show a chip for a run in the link that does not exist.
  goneChip(name) {
    const chip = this.chip({ name, short: name, members: [] });
    chip.classList.add("ms-chip-gone");
    setLabel(chip, "title", "picker.gone", { name });
    chip.querySelector("button").onclick = () => this.write((this.state.run || []).filter((key) => key !== name));
    return chip;
  }

  chip({ key = "", name, short, members, byHand = false }) {
    const chip = make("span", "ms-chip");
    chip.title = name;
    const label = make("span", "ms-chip-name");
    const remove = make("button", "ms-chip-remove");
    remove.type = "button";
    remove.append(make("span", "ms-icon ms-icon-close"));
    setLabel(remove, "aria-label", "picker.remove", { name });
    remove.onclick = () => this.choose(members, () => false);
    const colour = this.drawnIn.get(members[0]) || "";
    const about = { frame: this.store.replace(/-state$/, ""), target: { run: key }, name, colour, byHand };
    chip.append(members.length ? dotButton(paint(members, this.drawnIn), about) : dot(members, this.drawnIn), label, remove);
    chip.showName = (full) => label.replaceChildren(nameElement(full ? ["", name, ""] : this.parts(short), "ms-chip-tail"));
    return chip;
  }

  moreChip() {
    this.more = make("button", "ms-chip ms-chip-more");
    this.more.type = "button";
    this.more.addEventListener("click", () => this.toggle(true, true));
    return this.more;
  }

  // Show full names if all fit, else short ones, else cut ones; count the chips that still do not fit.
  fitChips() {
    const chips = Array.from(this.chips.querySelectorAll(".ms-chip:not(.ms-chip-more)"));
    for (const chip of chips) chip.hidden = false;
    if (!this.more) return;
    this.more.hidden = true;
    const room = this.chips.clientWidth;
    let widths = [];
    let total = 0;
    for (const [full, tight] of [[true, false], [false, false], [false, true]]) {
      this.chips.classList.toggle("ms-tight", tight);
      for (const chip of chips) chip.showName(full);
      widths = chips.map((chip) => chip.offsetWidth + 4);
      total = widths.reduce((sum, w) => sum + w, 0);
      if (total <= room) break;
    }
    let used = 0;
    const reserve = total > room || this.total > chips.length ? 44 : 0;
    let shown = 0;
    for (const w of widths) {
      if (used + w > room - reserve) break;
      used += w;
      shown += 1;
    }
    chips.forEach((chip, i) => (chip.hidden = i >= shown));
    const rest = this.total - shown;
    this.more.hidden = rest <= 0;
    this.more.textContent = `+${rest}`;
  }

  // Panel -----------------------------------------------------------------------------------------------------------

  toggle(open = !this.open, onlyChosen = false) {
    this.open = open;
    this.panel.hidden = !open;
    this.button.setAttribute("aria-expanded", String(open));
    if (!open) return;
    this.anchorOn = true;
    if (onlyChosen) this.search.value = "";
    this.showOnlyChosen(onlyChosen);
    const first = this.items.findIndex((item) => item.members.some((key) => this.chosen.has(key)));
    this.active = this.anchor = Math.max(0, first);
    this.list.scrollTop = Math.max(0, this.active - 2) * ROW;
    this.paint();
    this.search.focus();
    this.search.select();
  }

  // Keep the current selection listed, so that a deselected run can be selected again.
  showOnlyChosen(on) {
    this.held = on ? new Set(this.chosen) : null;
    this.heldButton.setAttribute("aria-pressed", String(on));
    this.refilter();
  }

  refilter(keep = false) {
    const test = matcher(this.search.value, this.regex);
    this.search.setAttribute("aria-invalid", String(test === null));
    if (test === null) setLabel(this.search, "title", "picker.bad_regex");
    else this.search.removeAttribute("title");
    if (test !== null) {
      const held = (row) => !this.held || row.members.some((key) => this.held.has(key));
      const rows = this.rows.filter(
        (row) => held(row) && (test(row.name) || (row.members.length > 1 && row.members.some(test))),
      );
      this.matched = rows;
      this.items = rows.flatMap((row) => {
        const own = { row, members: row.members, name: row.name, depth: 0 };
        if (!this.expanded.has(row.key)) return [own];
        return [own, ...row.members.map((key) => ({ row, members: [key], name: rankName(row, key), depth: 1 }))];
      });
    }
    if (!keep) {
      this.active = this.anchor = 0;
      this.list.scrollTop = 0;
    }
    this.active = Math.max(0, Math.min(this.active, this.items.length - 1));
    this.found.textContent
      = this.search.value || this.held
        ? `${count(this.matched.length)} / ${count(this.rows.length)}`
        : "";
    this.paint();
  }

  shown() {
    return this.matched.flatMap((row) => row.members);
  }

  paint() {
    this.space.style.height = `${Math.max(this.items.length, 1) * ROW}px`;
    if (!this.items.length) {
      this.space.replaceChildren(writeText(make("div", "ms-panel-none ms-muted"), "picker.no_match"));
      return;
    }
    const first = Math.max(0, Math.floor(this.list.scrollTop / ROW) - 4);
    const last = Math.min(this.items.length, first + Math.ceil(this.list.clientHeight / ROW) + 8);
    this.space.replaceChildren(...this.items.slice(first, last).map((item, i) => this.line(item, first + i)));
    this.search.setAttribute("aria-activedescendant", `${this.list.id}-${this.active}`);
  }

  line(item, index) {
    const line = make("div", "ms-panel-row");
    line.id = `${this.list.id}-${index}`;
    line.dataset.index = index;
    line.style.top = `${index * ROW}px`;
    const count = item.members.filter((key) => this.chosen.has(key)).length;
    line.setAttribute("role", "option");
    line.setAttribute("aria-selected", String(count > 0));
    line.setAttribute("aria-posinset", index + 1);
    line.setAttribute("aria-setsize", this.items.length);
    line.classList.toggle("ms-active", index === this.active);
    line.classList.toggle("ms-rank", item.depth > 0);
    const box = make("span", `ms-check ${count === 0 ? "" : count === item.members.length ? "ms-checked" : "ms-partly"}`);
    const name = make("span", "ms-panel-name ms-cut", item.name);
    name.title = item.row.path;
    line.append(box, dot(item.members, this.drawnIn), name);
    if (item.depth === 0) {
      if (item.row.members.length > 1) line.append(this.expander(item.row));
      line.append(this.mark(item.row));
    }
    return line;
  }

  expander(row) {
    const button = make("span", "ms-expand");
    button.dataset.expand = row.key;
    const words = writeText(make("span"), "picker.ranks", { n: row.members.length });
    button.append(words, make("span", `ms-icon ms-icon-${this.expanded.has(row.key) ? "up" : "down"}`));
    setLabel(button, "title", "picker.expand");
    return button;
  }

  mark(row) {
    const state = writeText(make("span", `ms-state ms-state-${row.state}`), `state.${row.state}`);
    return state;
  }

  click(event) {
    const expand = event.target.closest("[data-expand]");
    if (expand) return this.expand(expand.dataset.expand);
    const line = event.target.closest(".ms-panel-row");
    if (!line) return;
    const index = Number(line.dataset.index);
    if (event.altKey) this.only(index);
    else if (event.shiftKey) this.range(index);
    else this.flip(index);
    this.search.focus();
  }

  key(event) {
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10 }[event.key];
    if (step) {
      event.preventDefault();
      this.active = Math.max(0, Math.min(this.items.length - 1, this.active + step));
      this.reveal();
      if (event.shiftKey) this.range(this.active);
      else {
        this.anchor = this.active;
        this.anchorOn = true;
        this.paint();
      }
    } else if (event.key === "Enter" || (event.key === " " && (event.ctrlKey || !this.search.value))) {
      event.preventDefault();
      if (event.altKey) this.only(this.active);
      else this.flip(this.active);
    } else if ((event.key === "ArrowRight" || event.key === "ArrowLeft") && !this.search.value && this.items[this.active]) {
      const { row } = this.items[this.active];
      if (row.members.length > 1 && this.expanded.has(row.key) === (event.key === "ArrowLeft")) this.expand(row.key);
    } else if (event.key === "Escape") this.dismiss(event);
  }

  dismiss(event) {
    event.preventDefault();
    event.stopPropagation();
    this.toggle(false);
    this.button.focus();
  }

  expand(key) {
    if (!this.expanded.delete(key)) this.expanded.add(key);
    this.refilter(true);
  }

  reveal() {
    const top = this.active * ROW;
    if (top < this.list.scrollTop) this.list.scrollTop = top;
    else if (top + ROW > this.list.scrollTop + this.list.clientHeight) this.list.scrollTop = top + ROW - this.list.clientHeight;
  }

  flip(index) {
    const item = this.items[index];
    if (!item) return;
    this.active = this.anchor = index;
    this.anchorOn = !item.members.every((key) => this.chosen.has(key));
    this.choose(item.members, () => this.anchorOn);
  }

  range(index) {
    const from = Math.min(this.anchor, index);
    const to = Math.max(this.anchor, index);
    this.active = index;
    this.choose(this.items.slice(from, to + 1).flatMap((item) => item.members), () => this.anchorOn);
  }

  only(index) {
    const item = this.items[index];
    if (!item) return;
    this.active = this.anchor = index;
    this.write(encode(new Set(item.members), this.rows));
  }

  choose(members, on) {
    const next = new Set(this.chosen);
    for (const key of members) {
      if (on(key, this.chosen)) next.add(key);
      else next.delete(key);
    }
    this.write(encode(next, this.rows));
    if (this.open) this.paint();
  }

  write(run) {
    const state = changedState(this.state, { run });
    setState(this.store, this.state, { run });
    this.take(state);
    if (this.open) this.paint();
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

export function open() {
  for (const picker of pickers.values()) {
    if (picker.host.isConnected && picker.host.offsetParent !== null) return picker.toggle(true);
  }
}
