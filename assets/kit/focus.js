// Keeps the focus of the keyboard: where the focused element is removed, hidden or disabled, its like or its neighbour gets it.
// Browsers give it to the body instead, from where Tab begins at the top of the page and a screen reader is silent. So the
// scripts of pages need not care: a removed chip, a badge that has done its work, a list that was drawn again, a closed menu.

const REACHED = "a[href], button, summary, select, input, textarea, [tabindex]";
const TYPED = "textarea, select, input:not([type=checkbox], [type=radio], [type=button], [type=submit])";
const SETTLED_MS = 40;  // scripts and Dash put the focus of dialogs and menus back themselves, up to a task later
const AGAIN_MS = 2000;  // for this long an answer of the server may bring the element back,
const WAIT_MS = 200;  // looked for this often
const LONGEST = 200;

/**
 * What had the focus: the element, what it is, and the elements around it with its place in each, the innermost first.
 * @typedef {{ element: Element, like: string, path: [Element, number][], opener: Held | null }} Held
 */

/** @type {Held | null} */
let held = null;
/** @type {{ held: Held, until: number, now: Element } | null} */
let missing = null;
let timer = 0;

/** @param {Element} element */
const own = (element) => element.closest(".ms") !== null;

/** @param {Element} element */
export function reachable(element) {
  return element.isConnected && !element.matches(":disabled") && !element.closest("[inert]")
    && element.checkVisibility({ visibilityProperty: true });
}

/**
 * What an element is; one that is made anew is the same.
 * @param {Element} element
 */
function likeOf(element) {
  if (element.id) return `#${element.id}`;
  const all = element instanceof HTMLElement ? Object.entries(element.dataset) : [];
  // A heading that sorts is the same one when its direction has changed.
  const data = all.filter(([name]) => !name.startsWith("dash"))
    .map(([name, value = ""]) => [name, name === "by" ? value.replace(/^-/, "") : value]);
  const text = element.matches("a, button, summary") ? (element.textContent || "").replace(/ [↑↓]$/, "") : "";
  const name = element.getAttribute("aria-label") || element.getAttribute("title") || text || "";
  return [element.getAttribute("type"), element.getAttribute("role"), ...data.sort().flat(), name.slice(0, LONGEST)].join("\n");
}

/** @param {Element} element */
function pathOf(element) {
  /** @type {[Element, number][]} */
  const path = [];
  for (let at = element; at.parentElement; at = at.parentElement) {
    path.push([at.parentElement, Array.prototype.indexOf.call(at.parentElement.children, at)]);
  }
  return path;
}

/** @param {Element} element */
function hold(element) {
  const dialog = element.closest("dialog, [popover]");
  const before = held && dialog && !dialog.contains(held.element) ? held : null;
  const inside = held && dialog && dialog.contains(held.element) ? held.opener : null;
  held = { element, like: likeOf(element), path: pathOf(element), opener: before || inside };
}

const nowhere = () => !document.activeElement || document.activeElement === document.body;

/**
 * Return those within an element that may have the focus, without fields: these would take letters that are commands.
 * @param {Element} within
 */
function reached(within) {
  const all = [...(within.matches(REACHED) ? [within] : []), ...within.querySelectorAll(REACHED)];
  return all.filter((one) => one instanceof HTMLElement && one.tabIndex >= 0 && !one.matches(TYPED) && reachable(one));
}

/**
 * Return the element that is what had the focus, made anew: the only one of its kind and name near to where it was.
 * @param {Held} lost
 */
function again(lost) {
  if (reachable(lost.element)) return lost.element;
  const around = lost.path.map(([one]) => one).filter((one) => one.isConnected && own(one));
  const outermost = around[around.length - 1];
  if (!outermost) return null;
  const all = Array.from(outermost.querySelectorAll(lost.element.localName));
  const alike = all.filter((one) => likeOf(one) === lost.like && reachable(one));
  const [near] = around.map((one) => alike.filter((other) => one.contains(other))).filter((found) => found.length);
  return near && near.length === 1 ? near[0] : null;
}

/**
 * Return what is now where the focus was: the next one beside it, else the one before it, else what is around it.
 * @param {[Element, number][]} path
 * @param {Element} was  of a row of buttons, the one of its kind is meant
 */
function neighbour(path, was) {
  /** @param {Element} one */
  const alike = (one) => one.localName === was.localName && one.className === was.className;
  for (const [around, place] of path) {
    if (!reachable(around)) continue;
    if (!own(around) || around.matches("main, .ms-shell")) break;
    const children = Array.from(around.children);
    for (const child of children.slice(place)) {
      const all = reached(child);
      if (all.length) return all.find(alike) || all[0];
    }
    for (const child of children.slice(0, place).reverse()) {
      const all = reached(child);
      if (all.length) return all.findLast(alike) || all[all.length - 1];
    }
    if (around instanceof HTMLElement && around.tabIndex >= 0) return around;
  }
  const [around] = path.find(([one]) => reachable(one) && one.matches("main, .ms-frame")) || [null];
  return around || document.querySelector("main.ms-main");
}

/** @param {Element} element */
function give(element) {
  if (!(element instanceof HTMLElement) && !(element instanceof SVGElement)) return;
  if (element.tabIndex < 0 && !element.hasAttribute("tabindex")) element.setAttribute("tabindex", "-1");
  element.focus({ preventScroll: true });
}

/**
 * Move the focus from a field to what comes next, which takes letters as commands.
 * @param {Element} field
 */
export function leave(field) {
  const next = neighbour(pathOf(field), field);
  if (next) give(next);
}

/** Give the focus back if it was lost. */
function check() {
  window.clearTimeout(timer);
  timer = 0;
  if (missing) {
    if (Date.now() < missing.until && document.activeElement === missing.now) {
      const back = again(missing.held);
      if (back && back !== missing.now) give(back);
      else if (!back) {
        timer = window.setTimeout(check, WAIT_MS);
        return;
      }
    }
    missing = null;
  }
  if (!held || !nowhere() || reachable(held.element)) return;
  let lost = held;
  // A dialog gives the focus back to what opened it; that may be gone as well.
  while (lost.opener && !reachable(lost.path.find(([one]) => one.matches("dialog, [popover]"))?.[0] || document.body)) {
    lost = lost.opener;
    if (reachable(lost.element)) return give(lost.element);
  }
  const same = again(lost);
  // What is beside a closed dialog has nothing to do with it.
  const closed = lost.path.some(([one]) => one.matches("dialog, [popover]") && !reachable(one));
  const found = same || (closed ? document.querySelector("main.ms-main") : null) || neighbour(lost.path, lost.element);
  if (!found) return;
  give(found);
  if (same) return;
  missing = { held: lost, until: Date.now() + AGAIN_MS, now: found };
  timer = window.setTimeout(check, WAIT_MS);
}

document.addEventListener("focusin", (event) => {
  if (event.target instanceof Element && own(event.target)) hold(event.target);
  else if (event.target !== document.body) held = null;  // in another part of somebody's own layout
});
document.addEventListener("focusout", (event) => {
  if (event.relatedTarget || timer) return;
  timer = window.setTimeout(check, SETTLED_MS);
});
for (const name of ["keydown", "pointerdown"]) {
  document.addEventListener(name, () => {
    if (held && nowhere() && !reachable(held.element)) check();  // some browsers do not say that an element was removed
    else if (held && document.activeElement === held.element) hold(held.element);
  }, true);
}
