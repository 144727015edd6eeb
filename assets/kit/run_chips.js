// The chips of the runs on screen, beside the button of the picker: as many as fit, with full names, short ones or cut ones.

import { dotButton } from "./colour_box.js";
import { make } from "./elements.js";
import { setLabel } from "./i18n.js";
import { fontOf, nameElement, widthIn } from "./name_elements.js";
import { Names } from "./names.js";
import { gone, paint } from "./run_selection.js";

const CHIPS = 24;
const TIGHT = 140;  // px of a name that has no room, if it needs no more to be told from the others
const AROUND = 80;  // px of a chip beside its name, and of the count of the others

/**
 * The selection that chips and panel show and change.
 * @typedef {object} RunChoice
 * @property {Wire.RunRow[]} rows
 * @property {Wire.Query} state
 * @property {string} store id of the store with the state
 * @property {Set<string>} chosen keys of members
 * @property {Map<string, string>} drawnIn colours of these
 * @property {(members: string[], on: (key: string, chosen: Set<string>) => boolean) => void} choose
 * @property {(run: string[]) => void} write
 */

/** @typedef {{ name: string, members: string[], key: string, byHand: boolean }} Unit a run, or ranks of a job */
/** @typedef {{ element: HTMLElement, label: HTMLElement, name: HTMLElement }} Chip */

/**
 * The round mark of a run in its colour.
 * @param {string[]} members
 * @param {Map<string, string>} drawn
 */
export function dot(members, drawn) {
  const background = paint(members, drawn);
  const element = make("span", background ? "ms-dot" : "ms-dot ms-dot-off");
  element.style.background = background;
  return element;
}

export class RunChips {
  /**
   * @param {RunChoice} choice
   * @param {() => void} openChosen opens the panel with the chosen runs only
   */
  constructor(choice, openChosen) {
    this.choice = choice;
    this.element = make("div", "ms-chips");
    /** @type {Chip[]} */
    this.chips = [];
    this.total = 0;
    this.signature = "";
    this.names = new Names([]);
    this.more = make("button", "ms-chip ms-chip-more", [], { type: "button" });
    this.more.hidden = true;
    this.more.addEventListener("click", openChosen);
    new ResizeObserver(() => this.fit()).observe(this.element);
  }

  onScreen() {
    const { rows, chosen } = this.choice;
    return rows.flatMap((row) => {
      const members = row.members.filter((key) => chosen.has(key));
      if (!members.length) return [];
      const hand = (/** @type {string} */ key) => Boolean(row.hand[key]);
      if (members.length === row.members.length) return [{ key: row.key, members, name: row.name, byHand: hand(row.key) }];
      return members.map((key) => ({ key, members: [key], name: key, byHand: hand(key) }));
    });
  }

  paint() {
    const { rows, state, drawnIn } = this.choice;
    const all = this.onScreen();
    const missing = rows.length ? gone(state, rows) : [];
    const few = all.slice(0, CHIPS);
    const signature = JSON.stringify([
      this.choice.store,  // the boxes of the chips' dots belong to the page on screen
      few.map((one) => [one.name, one.byHand, paint(one.members, drawnIn)]),
      all.map((one) => one.name),
      missing,
    ]);
    if (signature === this.signature) return;
    this.signature = signature;
    this.names = new Names(all.map((one) => one.name));
    this.total = all.length + missing.length;
    this.chips = [...missing.slice(0, CHIPS).map((key) => this.goneChip(key)), ...few.map((one) => this.chip(one))];
    this.element.replaceChildren(...this.chips.map(({ element }) => element), this.more);
    this.fit();
  }

  /**
   * Show a chip for a run in the link that does not exist.
   * @param {string} name
   */
  goneChip(name) {
    const forget = () => this.choice.write((this.choice.state.run || []).filter((key) => key !== name));
    const chip = this.chip({ key: "", name, members: [], byHand: false }, forget);
    chip.element.classList.add("ms-chip-gone");
    setLabel(chip.element, "title", "picker.gone", { name });
    return chip;
  }

  /**
   * @param {Unit} unit
   * @param {() => void} [forget] what the button of the chip does
   * @returns {Chip}
   */
  chip({ key, name, members, byHand }, forget = () => this.choice.choose(members, () => false)) {
    const { drawnIn, store } = this.choice;
    const element = make("span", "ms-chip");
    element.title = name;
    const label = make("span", "ms-chip-name");
    const shown = nameElement(name, this.names);
    label.append(shown);
    const remove = make("button", "ms-chip-remove", make("span", "ms-icon ms-icon-close"), { type: "button" });
    setLabel(remove, "aria-label", "picker.remove", { name });
    remove.addEventListener("click", forget);
    const colour = drawnIn.get(members[0]) || "";
    const about = { frame: store.replace(/-state$/, ""), target: { run: key }, name, colour, byHand };
    element.append(members.length ? dotButton(paint(members, drawnIn), about) : dot(members, drawnIn), label, remove);
    return { element, label, name: shown };
  }

  // Show full names if all fit, else what tells them apart; count the chips that still do not fit.
  fit() {
    const { chips, more } = this;
    for (const { element } of chips) element.hidden = false;
    more.hidden = true;
    const room = this.element.clientWidth;
    /** @type {number[]} */
    let widths = [];
    let total = 0;
    const width = chips.length ? widthIn(fontOf(chips[0].name)) : () => 0;
    for (const tight of [false, true]) {
      for (const { label, name } of chips) {
        const telling = Math.ceil(width(this.names.telling(name.textContent || ""))) + 1;
        label.style.maxWidth = tight ? `${Math.max(TIGHT, Math.min(telling, room - AROUND))}px` : "";
      }
      widths = chips.map(({ element }) => element.offsetWidth + 4);
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
    chips.forEach(({ element }, i) => (element.hidden = i >= shown));
    const rest = this.total - shown;
    more.hidden = rest <= 0;
    more.textContent = `+${rest}`;
  }
}
