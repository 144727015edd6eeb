// The panel in which the user chooses runs: a search, buttons for many at once, and a list that draws only the rows in view.

import { make } from "./elements.js";
import { setLabel, writeText } from "./i18n.js";
import { dot } from "./run_chips.js";
import { encode, matcher } from "./run_selection.js";
import { count } from "./units.js";

/** @import { RunChoice } from "./run_chips.js" */
/** @typedef {{ row: Wire.RunRow, members: string[], name: string, depth: number }} Item a run, or below it one of its ranks */

const ROW = 28;
/** @type {Record<string, number>} */
const STEPS = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10 };

/**
 * @param {Wire.RunRow} row
 * @param {string} member
 */
function rankName(row, member) {
  return member.startsWith(`${row.key}/`) ? member.slice(row.key.length + 1) : member;
}

export class RunPanel {
  /**
   * @param {RunChoice} choice
   * @param {string} id prefix of the ids of rows
   * @param {() => void} leave closes the panel and gives the focus back
   */
  constructor(choice, id, leave) {
    this.choice = choice;
    this.leave = leave;
    /** @type {Item[]} */
    this.items = [];
    /** @type {Wire.RunRow[]} */
    this.matched = [];
    this.active = 0;
    this.anchor = 0;
    this.anchorOn = true;  // whether a range selects or deselects, like its first run
    /** @type {Set<string>} */
    this.expanded = new Set();
    this.regex = false;
    /** @type {Set<string> | null} */
    this.held = null;  // if set, only these members are listed
    this.element = make("div", "ms-panel", [], { role: "dialog", hidden: "" });
    setLabel(this.element, "aria-label", "picker.open");
    this.search = make("input", "ms-input ms-grow", [], {
      type: "search", spellcheck: "false", role: "combobox", "aria-expanded": "true", "aria-controls": `${id}-list`,
    });
    this.regexButton = make("button", "ms-button ms-mono", ".*", { type: "button", "aria-pressed": "false" });
    this.usual = this.button("picker.newest", { n: "" }, () => choice.write([]));
    this.heldButton = this.button("picker.only_chosen", {}, () => this.showOnlyChosen(!this.held));
    this.heldButton.setAttribute("aria-pressed", "false");
    this.found = make("span", "ms-muted ms-panel-found");
    this.space = make("div", "ms-panel-space");
    this.list = make("div", "ms-panel-list", this.space, { id: `${id}-list`, role: "listbox", "aria-multiselectable": "true" });
    setLabel(this.list, "aria-label", "picker.list");
    this.list.addEventListener("scroll", () => this.paint());
    this.list.addEventListener("click", (event) => this.click(event));
    const tip = writeText(make("div", "ms-panel-hint ms-muted"), "picker.hint");
    this.element.append(this.buildSearch(), this.buildTools(), this.list, tip);
  }

  get open() {
    return !this.element.hidden;
  }

  buildSearch() {
    for (const name of ["placeholder", "aria-label"]) setLabel(this.search, name, "picker.search");
    this.search.addEventListener("input", () => this.refilter());
    this.search.addEventListener("keydown", (event) => this.key(event));
    for (const name of ["title", "aria-label"]) setLabel(this.regexButton, name, "picker.regex");
    this.regexButton.addEventListener("click", () => {
      this.regex = !this.regex;
      this.regexButton.setAttribute("aria-pressed", String(this.regex));
      this.refilter();
      this.search.focus();
    });
    return make("div", "ms-panel-search", [this.search, this.regexButton]);
  }

  buildTools() {
    const { choice } = this;
    return make("div", "ms-panel-tools", [
      this.button("picker.all", {}, () => choice.choose(this.shown(), () => true)),
      this.button("picker.nothing", {}, () => choice.choose(this.shown(), () => false)),
      this.button("picker.invert", {}, () => choice.choose(this.shown(), (key, chosen) => !chosen.has(key))),
      this.usual, this.heldButton, this.found,
    ]);
  }

  /**
   * @param {string} key
   * @param {TextValues} values
   * @param {() => void} act
   */
  button(key, values, act) {
    const button = writeText(make("button", "ms-button", [], { type: "button" }), key, values);
    button.addEventListener("click", act);
    return button;
  }

  /**
   * @param {boolean} onlyChosen
   */
  show(onlyChosen) {
    this.element.hidden = false;
    this.anchorOn = true;
    if (onlyChosen) this.search.value = "";
    this.showOnlyChosen(onlyChosen);
    const first = this.items.findIndex((item) => item.members.some((key) => this.choice.chosen.has(key)));
    this.active = this.anchor = Math.max(0, first);
    this.list.scrollTop = Math.max(0, this.active - 2) * ROW;
    this.paint();
    this.search.focus();
    this.search.select();
  }

  /**
   * Keep the current selection listed, so that a deselected run can be selected again.
   * @param {boolean} on
   */
  showOnlyChosen(on) {
    this.held = on ? new Set(this.choice.chosen) : null;
    this.heldButton.setAttribute("aria-pressed", String(on));
    this.refilter();
  }

  /**
   * @param {boolean} [keep] the place in the list
   */
  refilter(keep = false) {
    const test = matcher(this.search.value, this.regex);
    this.search.setAttribute("aria-invalid", String(test === null));
    if (test === null) setLabel(this.search, "title", "picker.bad_regex");
    else this.search.removeAttribute("title");
    if (test !== null) {
      const { held } = this;
      const listed = (/** @type {Wire.RunRow} */ row) => !held || row.members.some((key) => held.has(key));
      const rows = this.choice.rows.filter(
        (row) => listed(row) && (test(row.name) || (row.members.length > 1 && row.members.some(test))),
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
        ? `${count(this.matched.length)} / ${count(this.choice.rows.length)}`
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

  /**
   * @param {Item} item
   * @param {number} index
   */
  line(item, index) {
    const line = make("div", "ms-panel-row");
    line.id = `${this.list.id}-${index}`;
    line.dataset.index = String(index);
    line.style.top = `${index * ROW}px`;
    const shown = item.members.filter((key) => this.choice.chosen.has(key)).length;
    line.setAttribute("role", "option");
    line.setAttribute("aria-selected", String(shown > 0));
    line.setAttribute("aria-posinset", String(index + 1));
    line.setAttribute("aria-setsize", String(this.items.length));
    line.classList.toggle("ms-active", index === this.active);
    line.classList.toggle("ms-rank", item.depth > 0);
    const box = make("span", `ms-check ${shown === 0 ? "" : shown === item.members.length ? "ms-checked" : "ms-partly"}`);
    const name = make("span", "ms-panel-name ms-cut ms-name", item.name);
    name.title = item.row.path;
    line.append(box, dot(item.members, this.choice.drawnIn), name);
    if (item.depth === 0) {
      if (item.row.members.length > 1) line.append(this.expander(item.row));
      line.append(this.mark(item.row));
    }
    return line;
  }

  /**
   * @param {Wire.RunRow} row
   */
  expander(row) {
    const button = make("span", "ms-expand");
    button.dataset.expand = row.key;
    const words = writeText(make("span"), "picker.ranks", { n: row.members.length });
    button.append(words, make("span", `ms-icon ms-icon-${this.expanded.has(row.key) ? "up" : "down"}`));
    setLabel(button, "title", "picker.expand");
    return button;
  }

  /**
   * @param {Wire.RunRow} row
   */
  mark(row) {
    return writeText(make("span", `ms-state ms-state-${row.state}`), `state.${row.state}`);
  }

  /**
   * @param {MouseEvent} event
   */
  click(event) {
    const expand = event.target?.closest("[data-expand]");
    if (expand) {
      this.expand(expand.dataset.expand);
      return;
    }
    const line = event.target?.closest(".ms-panel-row");
    if (!line) return;
    const index = Number(line.dataset.index);
    if (event.altKey) this.only(index);
    else if (event.shiftKey) this.range(index);
    else this.flip(index);
    this.search.focus();
  }

  /**
   * @param {KeyboardEvent} event
   */
  key(event) {
    const step = STEPS[event.key];
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

  /**
   * @param {KeyboardEvent} event
   */
  dismiss(event) {
    event.preventDefault();
    event.stopPropagation();
    this.leave();
  }

  /**
   * @param {string} key
   */
  expand(key) {
    if (!this.expanded.delete(key)) this.expanded.add(key);
    this.refilter(true);
  }

  reveal() {
    const top = this.active * ROW;
    if (top < this.list.scrollTop) this.list.scrollTop = top;
    else if (top + ROW > this.list.scrollTop + this.list.clientHeight) this.list.scrollTop = top + ROW - this.list.clientHeight;
  }

  /**
   * @param {number} index
   */
  flip(index) {
    const item = this.items[index];
    if (!item) return;
    this.active = this.anchor = index;
    this.anchorOn = !item.members.every((key) => this.choice.chosen.has(key));
    this.choice.choose(item.members, () => this.anchorOn);
  }

  /**
   * @param {number} index
   */
  range(index) {
    const from = Math.min(this.anchor, index);
    const to = Math.max(this.anchor, index);
    this.active = index;
    this.choice.choose(this.items.slice(from, to + 1).flatMap((item) => item.members), () => this.anchorOn);
  }

  /**
   * @param {number} index
   */
  only(index) {
    const item = this.items[index];
    if (!item) return;
    this.active = this.anchor = index;
    this.choice.write(encode(new Set(item.members), this.choice.rows));
  }
}
