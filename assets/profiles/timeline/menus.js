// Folding, hiding, pinning and moving of tracks: their buttons and menus.

import { make, words } from "../../kit/elements.js";
import { movedIn, ordered, partId } from "./tracks.js";

/** @type {Timeline.Height[]} */
const SIZES = ["small", "medium", "large"];

/**
 * @param {Timeline.Page} page
 * @param {string} id
 */
function rowOf(page, id) {
  return page.line.places.get(id);
}

/**
 * @param {string[] | undefined} list
 * @param {string} id
 */
function without(list, id) {
  return (list || []).filter((one) => one !== id);
}

/**
 * @param {Timeline.Page} page
 * @param {string} id
 */
export function fold(page, id) {
  const row = rowOf(page, id);
  if (!row) return;
  const { state } = page;
  page.change(row.folded
    ? { fold: without(state.fold, id), open: [...without(state.open, id), id] }
    : { fold: [...without(state.fold, id), id], open: without(state.open, id) });
}

/**
 * Unfold what hides a track, if anything does.
 * @param {Timeline.Page} page
 * @param {number} track
 */
export function unfold(page, track) {
  const { line, state } = page;
  const process = line.tree.find((one) => one.tracks.some((each) => each.index === track));
  if (!process || line.places.has(line.ids[track])) return;
  const ids = [partId(process.part), process.id];
  const folded = ids.filter((id) => { const row = line.places.get(id); return !row || row.folded; });
  page.change({
    fold: (state.fold || []).filter((id) => !folded.includes(id)),
    open: [...(state.open || []).filter((id) => id !== process.id), process.id],
  });
}

/** @param {Timeline.Page} page */
export function closeMenu(page) {
  if (page.menu) page.menu.remove();
  page.menu = null;
}

/**
 * What to hide so that a process or a track is left alone.
 * @param {Timeline.Process[]} tree
 * @param {string} id
 */
export function othersOf(tree, id) {
  return tree.flatMap((process) => {
    if (process.id === id) return [];
    const ids = process.tracks.map((track) => track.id);
    return ids.includes(id) ? ids.filter((other) => other !== id) : [process.id];
  });
}

/**
 * @param {Timeline.Page} page
 * @param {HTMLElement} button
 */
export function openMenu(page, button) {
  const { id = "" } = button.dataset;
  const again = page.menu && page.menu.dataset.id === id;
  closeMenu(page);
  if (again) return;
  const row = rowOf(page, id);
  if (!row) return;
  const { state, line } = page;
  const process = row.kind === "process";
  /** @type {{ id: string }[]} */
  const siblings = process ? line.tree.filter((one) => one.part === row.process.part)
    : line.tree.find((one) => one.tracks.some((track) => track.id === id))?.tracks || [];
  /**
   * @param {string} key
   * @param {() => void} run
   * @param {boolean} [disabled]
   */
  const item = (key, run, disabled = false) => {
    const element = make("button", "ms-menu-item", words(key), { type: "button", role: "menuitem" });
    element.disabled = disabled;
    element.addEventListener("click", () => { closeMenu(page); run(); });
    return element;
  };
  const now = ordered(siblings, state.order || []).map((one) => one.id);
  /** @param {number} by */
  const move = (by) => page.change({ order: movedIn(siblings, state.order || [], id, by) });
  const pinned = (state.pin || []).includes(id);
  const hide = () => page.change({ hide: [...without(state.hide, id), id], pin: without(state.pin, id) });
  const items = [item("timeline.hide", hide)];
  if (!process) {
    items.unshift(item(pinned ? "timeline.unpin" : "timeline.pin",
      () => page.change({ pin: pinned ? without(state.pin, id) : [...(state.pin || []), id] })));
    const height = line.look.heights.get(id) || line.look.height;
    /** @param {number} by */
    const size = (by) => {
      const next = SIZES[SIZES.indexOf(height) + by];
      page.change({ tall: [...(state.tall || []).filter((entry) => !entry.startsWith(`${id}:`)), `${id}:${next}`] });
    };
    if (row.kind === "track" && !row.curve) {
      items.push(item("timeline.taller", () => size(1), height === "large"));
      items.push(item("timeline.lower", () => size(-1), height === "small"));
    }
  }
  const inside = state.in || [];
  items.push(item(inside.includes(id) ? "timeline.search_everywhere" : "timeline.search_here",
    () => page.change({ in: inside.includes(id) ? without(inside, id) : [...inside, id] })));
  items.push(item("timeline.only", () => page.change({ hide: othersOf(line.tree, id) })));
  items.push(item("timeline.up", () => move(-1), now[0] === id), item("timeline.down", () => move(1), now.at(-1) === id));
  const element = make("div", "ms-menu-items ms-timeline-menu", items, { role: "menu", "data-id": id });
  const box = page.host.root.getBoundingClientRect();
  const place = button.getBoundingClientRect();
  page.host.root.append(element);
  element.style.left = `${place.left - box.left}px`;
  element.style.top = `${Math.min(place.bottom - box.top, box.height - element.offsetHeight - 8)}px`;
  page.menu = element;
  items[0].focus();
  element.addEventListener("keydown", (event) => {
    const at = items.indexOf(document.activeElement);
    if (event.key === "Escape") {
      closeMenu(page);
      button.focus();
    } else if (event.key === "ArrowDown") items[(at + 1) % items.length].focus();
    else if (event.key === "ArrowUp") items[(at + items.length - 1) % items.length].focus();
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
}

document.addEventListener("pointerdown", (event) => {
  for (const menuElement of document.querySelectorAll(".ms-timeline-menu")) {
    const opener = event.target instanceof Element && event.target.closest('[data-act="menu"]');
    if (!menuElement.contains(event.target) && !opener) menuElement.remove();
  }
});
