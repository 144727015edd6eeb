// The list of tags: filter by regular expression, checkboxes, groups by prefix. Long lists are drawn a few hundred at a time.

import { isDerived } from "../derived_tags.js";
import { iconButton, make, words } from "../elements.js";
import { count } from "../units.js";
import { setLabel, writeText } from "../i18n.js";
import { nameElement } from "../name_elements.js";
import { last } from "../state.js";
import * as side from "./side.js";
import * as ticks from "./ticks.js";

/** @typedef {{ name: string, prefix: string, tags: string[] }} TagGroup */

const CHUNK = 200;
const OPEN_UP_TO = 40;
const FILTER_WAIT_MS = 200;

/** @param {CardsPage} page */
export function build(page) {
  page.open = new Map();   // prefix -> whether its group is open
  page.drawnUpTo = new Map();  // group -> number of tags drawn
  const host = page.find(".ms-tags");
  const filter = make("input", "ms-input ms-filter", [], { type: "search", spellcheck: "false", autocomplete: "off" });
  setLabel(filter, "placeholder", "cards.filter");
  setLabel(filter, "aria-label", "cards.filter");
  let timer = 0;
  filter.addEventListener("input", () => {
    window.clearTimeout(timer);
    timer = window.setTimeout(() => page.change({ q: filter.value ? [filter.value] : [], page: [] }), FILTER_WAIT_MS);
  });
  const all = make("button", "ms-button ms-button-small", words("cards.all"), { type: "button" });
  all.addEventListener("click", () => tickMatching(page, true));
  const none = make("button", "ms-button ms-button-small", words("cards.none"), { type: "button" });
  none.addEventListener("click", () => tickMatching(page, false));
  const tools = page.kind.tagTools ? page.kind.tagTools(page) : [];
  host.replaceChildren(
    filter, make("p", "ms-filter-note", [], { role: "alert", hidden: "" }),
    make("div", "ms-tags-head", [make("span", "ms-tags-count ms-muted"), all, none]),
    ...tools,
    make("div", "ms-tag-list", [], { role: "list" }),
  );
  side.build(page);
  host.addEventListener("change", (/** @type {Event} */ event) => ticked(page, event.target));
  host.addEventListener("click", (/** @type {MouseEvent} */ event) => clicked(page, event));
}

/**
 * @param {CardsPage} page
 * @param {boolean} on
 */
function tickMatching(page, on) {
  const matching = new Set(ticks.matching(page.catalogue.tags, last(page.state, "q", "")));
  const before = ticks.ticked(page.state);
  ticks.tick(page, (tag) => (matching.has(tag) ? on : before(tag)));
}

/**
 * @param {CardsPage} page
 * @param {EventTarget | null} box
 */
function ticked(page, box) {
  if (!(box instanceof HTMLInputElement) || box.type !== "checkbox") return;
  const before = ticks.ticked(page.state);
  if (box.dataset.tag !== undefined) return ticks.tick(page, (tag) => (tag === box.dataset.tag ? box.checked : before(tag)));
  const group = page.groups.find(({ prefix }) => prefix === box.dataset.prefix);
  const ticking = new Set(group ? group.tags : []);
  ticks.tick(page, (tag) => (ticking.has(tag) ? box.checked : before(tag)));
}

/**
 * @param {CardsPage} page
 * @param {MouseEvent} event
 */
function clicked(page, event) {
  const element = event.target instanceof Element && event.target.closest("[data-fold],[data-more],[data-only],[data-side]");
  if (!element) return;
  event.preventDefault();
  const { fold, more, only, side, tag } = element.dataset;
  if (fold !== undefined) page.open.set(fold, element.getAttribute("aria-expanded") !== "true");
  if (more !== undefined) page.drawnUpTo.set(more, (page.drawnUpTo.get(more) || CHUNK) + CHUNK);
  if (only !== undefined) return ticks.tick(page, (name) => name === only);
  if (side !== undefined) return page.kind.putOn?.(page, side, tag || "");
  page.drawn = "";
  draw(page);
}

/**
 * The prefix of a tag; the slashes of a derived curve are in the tags of its expression.
 * @param {string} tag
 */
function prefixOf(tag) {
  return isDerived(tag) ? "" : tag.slice(0, Math.max(0, tag.indexOf("/") + 1));
}

/**
 * Tags with the same prefix up to "/" form a group; single tags are collected between groups.
 * @param {string[]} tags
 * @returns {TagGroup[]}
 */
export function grouped(tags) {
  /** @type {Map<string, string[]>} */
  const members = new Map();
  for (const tag of tags) {
    const prefix = prefixOf(tag);
    const same = members.get(prefix);
    if (same) same.push(tag);
    else members.set(prefix, [tag]);
  }
  /** @type {TagGroup[]} */
  const groups = [];
  for (const tag of tags) {
    const prefix = prefixOf(tag);
    const together = members.get(prefix) || [];
    const company = prefix && together.length > 1;
    if (company && together[0] !== tag) continue;
    const before = groups[groups.length - 1];
    if (company) groups.push({ name: prefix, prefix, tags: together });
    else if (before && !before.prefix) before.tags.push(tag);
    else groups.push({ name: `#${groups.length}`, prefix: "", tags: [tag] });
  }
  return groups;
}

/**
 * @param {string} tag
 * @param {string} prefix
 * @param {(tag: string) => boolean} isTicked
 * @param {{ left: Set<string>, right: Set<string> } | null} sides
 */
function row(tag, prefix, isTicked, sides) {
  const name = nameElement(tag.slice(prefix.length));
  name.title = tag;
  if (sides) {
    const buttons = /** @type {("left" | "right")[]} */ (["left", "right"]).map((side) => {
      const on = sides[side].has(tag);
      const button = make("button", "ms-side", side === "left" ? "L" : "R",
        { type: "button", "data-side": side, "data-tag": tag, "aria-pressed": String(on) });
      setLabel(button, "title", `cards.${side}`);
      setLabel(button, "aria-label", `cards.${side}`);
      return button;
    });
    return make("div", "ms-tag", [...buttons, name], { role: "listitem" });
  }
  const box = make("input", "", [], { type: "checkbox" });
  box.dataset.tag = tag;
  box.checked = isTicked(tag);
  const only = make("button", "ms-only", words("cards.only"), { type: "button" });
  setLabel(only, "title", "cards.only.title");
  only.dataset.only = tag;
  return make("div", "ms-tag", [make("label", "ms-tag-label", [box, name]), only], { role: "listitem" });
}

/**
 * @param {string} prefix
 * @param {string[]} members
 * @param {(tag: string) => boolean} isTicked
 * @param {boolean} open
 * @param {boolean} ticks
 */
function groupHead(prefix, members, isTicked, open, ticks) {
  const fold = iconButton(open ? "down" : "right", "cards.fold", "fold");
  fold.dataset.fold = prefix;
  fold.setAttribute("aria-expanded", String(open));
  const on = members.filter(isTicked).length;
  /** @type {HTMLElement[]} */
  const parts = [fold];
  if (ticks) {
    const box = make("input", "", [], { type: "checkbox", "aria-label": prefix });
    box.dataset.prefix = prefix;
    box.checked = on > 0;
    box.indeterminate = on > 0 && on < members.length;
    parts.push(box);
  }
  const number = on === members.length || !ticks ? count(members.length) : `${count(on)}/${count(members.length)}`;
  parts.push(nameElement(prefix), make("span", "ms-tag-count ms-muted", number));
  return make("div", "ms-tag ms-tag-group", parts, { role: "listitem" });
}

/**
 * @param {CardsPage} page
 * @param {TagGroup[]} groups
 * @param {(tag: string) => boolean} isTicked
 * @param {{ left: Set<string>, right: Set<string> } | null} sides
 * @param {number} total
 */
function rows(page, groups, isTicked, sides, total) {
  /** @type {HTMLElement[]} */
  const result = [];
  for (const { name, prefix, tags: members } of groups) {
    const open = prefix === "" || (page.open.get(prefix) ?? total <= OPEN_UP_TO);
    if (prefix) result.push(groupHead(prefix, members, isTicked, open, !sides));
    if (!open) continue;
    const upTo = page.drawnUpTo.get(name) || CHUNK;
    const list = members.slice(0, upTo).map((tag) => row(tag, prefix, isTicked, sides));
    if (prefix) for (const element of list) element.classList.add("ms-tag-in");
    result.push(...list);
    if (members.length > upTo) {
      const label = words("cards.more_tags", { n: count(members.length - upTo) });
      const more = make("button", "ms-button ms-button-small", label, { type: "button" });
      more.dataset.more = name;
      result.push(more);
    }
  }
  return result;
}

/** @param {CardsPage} page */
export function draw(page) {
  const { state, catalogue } = page;
  const onSides = page.kind.sides ? page.kind.sides(page) : null;
  const text = last(state, "q", "");
  const filter = page.find(".ms-filter");
  if (filter !== document.activeElement && filter.value !== text) filter.value = text;
  const bad = ticks.pattern(text) === undefined;
  filter.setAttribute("aria-invalid", String(bad));
  const note = page.find(".ms-filter-note");
  note.hidden = !bad;
  if (bad) writeText(note, "cards.filter_bad");
  for (const button of page.root.querySelectorAll(".ms-tags-head button")) button.hidden = Boolean(onSides);
  writeText(page.find(".ms-tags-count"), "cards.chosen",
    { shown: count(page.chosen.length), total: count(catalogue.tags.length) });

  // Redraw only if something that the list shows has changed.
  const key = JSON.stringify([text, state.tag, state.untick, state.hide, onSides]);
  if (page.drawn === key && page.drawnCatalogue === catalogue) return;
  page.drawn = key;
  page.drawnCatalogue = catalogue;
  const shown = ticks.matching(catalogue.tags, text);
  page.groups = grouped(shown);
  const sides = onSides && { left: new Set(onSides[0]), right: new Set(onSides[1]) };
  const list = page.find(".ms-tag-list");
  const focus = focused(list);
  list.replaceChildren(...rows(page, page.groups, ticks.ticked(state), sides, shown.length));
  refocus(list, focus);
}

// Restore the focus after a redraw.
const HANDLES = ["tag", "prefix", "fold", "only", "more"];

/** @param {Element} list */
function focused(list) {
  const element = list.contains(document.activeElement) ? document.activeElement : null;
  return element && { tag: element.tagName, data: { ...element.dataset } };
}

/**
 * @param {HTMLElement} list
 * @param {{ tag: string, data: DOMStringMap } | null} focus
 */
function refocus(list, focus) {
  if (!focus) return;
  for (const element of list.querySelectorAll(focus.tag)) {
    if (HANDLES.every((name) => element.dataset[name] === focus.data[name]) && element.dataset.side === focus.data.side) {
      element.focus({ preventScroll: true });
      return;
    }
  }
}
