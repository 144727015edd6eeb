// The body of a page about one run's data of a kind: choice of run, progress of reading, empty states, list of damage.
// Counterpart of layouts/kit/body.py. A subject calls `bodies` with what differs (Body.Subject in types/body.d.ts), and its
// pages call the `define` that it returns: define(name, { fields(page), build(page), draw(page), answers }).

import { listDamage } from "./damage.js";
import { functionsOf, noUpdate, setProps } from "./dash.js";
import { fillSelect, icon, make, words } from "./elements.js";
import { setLabel, writeText } from "./i18n.js";
import { nameElement } from "./name_elements.js";
import { keeper, notYet } from "./pages.js";
import { answered } from "./page_parts.js";
import { currentPrefs } from "./prefs.js";
import { formatQuery, last, same } from "./state.js";
import { count } from "./units.js";

const AGAIN_MS = 400;

/**
 * @param {KeptPage} page
 * @param {string} key
 * @param {string} [fallback]
 */
export const get = (page, key, fallback = "") => last(page.state, key, fallback);

/**
 * The words in an attribute of the root.
 * @param {string} [text]
 */
export const listOf = (text = "") => text.split(" ").filter(Boolean);

/**
 * The pages of a subject: how they are defined and found, and `redraw` after something else changed that decides what is shown.
 * @template {Body.Page} Own
 * @param {Body.Subject<Own>} subject
 */
export function bodies(subject) {
  // Records are made by `fields` of this subject alone.
  const own = /** @type {Body.Subject<Body.Page>} */ (subject);
  /** @type {Map<string, Body.Kind<Body.Page>>} */
  const kinds = new Map();

  /**
   * @param {HTMLElement} root
   * @param {Body.Page} page
   * @returns {OwnFields<Body.Page>}
   */
  function fresh(root, page) {
    const kind = kinds.get(root.dataset.page || "") || {};
    return {
      catalogue: notYet, reading: null, wanted: null, asked: null, kind, keys: listOf(root.dataset.keys),
      choices: listOf(root.dataset.choices), compared: root.dataset.compared === "1", chosen: false,
      left: make("span", "ms-muted"), tools: make("span", "ms-toolbar ms-body-tools"), turn: 0, timer: 0,
      ...own.fields(root, page), ...(kind.fields ? kind.fields(page) : {}),
    };
  }

  const kept = keeper(fresh, (page) => {
    page.find(".ms-body-bar").replaceChildren(...own.controls(page));
    if (page.kind.build) page.kind.build(page);
  });

  /**
   * Register a page by its name. Returns the function that finds such a page on screen by the id of its root.
   * @template {Own} Kept
   * @param {string} name
   * @param {Body.Kind<Kept, Own>} kind
   * @returns {(rootId: string) => Kept | null}
   */
  function define(name, kind) {
    const known = /** @type {Body.Kind<Body.Page>} */ (/** @type {unknown} */ (kind));
    kinds.set(name, known);
    return (rootId) => {
      const page = kept.pageOf(rootId);
      // Only `fields` of this kind has made the record.
      return page && page.kind === known ? /** @type {Kept} */ (page) : null;
    };
  }

  /**
   * What the address names and the chosen runs do not have: something else in its place would be taken for it.
   * @param {Body.Page} page
   */
  const unknownOf = (page) => own.unknownOf && !page.catalogue.left ? own.unknownOf(page) : "";

  /** @param {Body.Page} page */
  function stateOf(page) {
    if (unknownOf(page)) return page.catalogue.waiting ? "loading" : "unknown";
    if (page.chosen) return own.stateOf(page);
    const { chosen, waiting, damage } = page.catalogue;
    const name = !chosen ? "no-runs" : waiting ? "loading" : damage.length ? "damaged" : "none";
    return own.emptyState ? own.emptyState(page, name) : name;
  }

  /** @param {Body.Page} page */
  function drawState(page) {
    const { catalogue } = page;
    const name = stateOf(page);
    for (const element of page.root.querySelectorAll("[data-state]")) element.hidden = element.dataset.state !== name;
    page.find(".ms-body-content").hidden = name !== "";
    page.find(".ms-body-bar").hidden = !page.chosen;
    page.tools.hidden = name !== "" && name !== "opening";
    if (name === "damaged") listDamage(page.root, catalogue.damage);
    if (own.unknownOf) page.find(".ms-body-unknown").textContent = unknownOf(page);
    if (own.wrongOf) drawWrong(page, name, own.wrongOf(page));
    if (own.drawState) own.drawState(page, name);
    const forgotten = Object.fromEntries(own.forgets.map((key) => [key, []]));
    drawElsewhere(page, "none", own.name, name === "none" ? catalogue.elsewhere.map(({ key, name: text }) =>
      ({ text, act: () => page.change({ ...forgotten, run: [key], of: [] }) })) : []);
    drawDamage(page, own.name, own.damageOf(page));
  }

  /**
   * Draw everything; return what the page is about if it changed, else null.
   * @param {Body.Page} page
   */
  function draw(page) {
    page.chosen = own.choose(page);
    let changed = false;
    if (page.chosen) {
      const wanted = own.wantedOf(page);
      changed = !same(wanted, page.wanted);
      page.wanted = wanted;
      if (changed) look(page);
      page.left.hidden = !page.catalogue.left;
      if (page.catalogue.left) writeText(page.left, `${own.name}.left`, { n: count(page.catalogue.left) });
      own.drawControls(page);
    }
    const ask = own.askOf ? own.askOf(page, changed) : null;
    let news = null;
    if (ask) {
      for (const key of page.keys) if ((page.state[key] || []).length) ask[key] = page.state[key];
      if (currentPrefs().theme === "dark") ask.theme = ["dark"];
      if (!same(ask, page.asked)) news = page.asked = ask;
    }
    drawState(page);
    if (page.kind.draw && own.isReady(page)) page.kind.draw(page);
    return news;
  }

  /** @param {Own} page */
  function redraw(page) {
    const ask = draw(page);
    if (ask) setProps(page.store("ask"), { data: ask });
  }

  Object.assign(functionsOf(`mindscope_${own.name}`), {
    /**
     * @param {Wire.Query | null} state
     * @param {Body.Catalogue | null} catalogue
     * @param {Body.Progress | null} reading
     * @param {unknown} _prefs
     * @param {string} rootId
     */
    plan(state, catalogue, reading, _prefs, rootId) {
      const page = kept.pageOf(rootId);
      let ask = null;
      if (page && catalogue) {
        const news = reading !== page.reading;
        Object.assign(page, { state: state || {}, catalogue, reading });
        ask = draw(page);
        if (news && page.chosen && reading && own.isUnfinished(page)) {
          window.clearTimeout(page.timer);
          page.timer = window.setTimeout(() => look(page), AGAIN_MS);
        }
      }
      return own.askOf ? ask || noUpdate() : undefined;
    },

    /**
     * @param {PartAnswer | null} answer
     * @param {string} rootId
     */
    answered(answer, rootId) {
      const page = kept.pageOf(rootId);
      if (page && answer) answered(/** @type {PageOfParts} */ (/** @type {KeptPage} */ (page)), answer);
    },
  });

  const found = /** @type {{ pages: Map<string, Own>, pageOf(rootId: string): Own | null }} */ (/** @type {unknown} */ (kept));
  return { ...found, define, redraw };
}

/**
 * Ask for what is wanted, or for the progress of reading it.
 * @param {Body.Page} page
 * @param {Wire.Query} [more]
 */
export function look(page, more = {}) {
  if (!page.root.isConnected || !page.chosen) return;
  page.turn += 1;
  setProps(page.store("wanted"), { data: { ...page.wanted, ...more, turn: [String(page.turn)] } });
}

/**
 * Show one line about what the address names and no run has (`unknown_state`) in place of the other children of its host.
 * @param {HTMLElement} host
 * @param {string} name
 */
export function showUnknown(host, name) {
  for (const child of host.children) {
    if (child instanceof HTMLElement) child.hidden = (child.dataset.state === "unknown") !== (name !== "");
  }
  for (const place of host.querySelectorAll(".ms-body-unknown")) place.textContent = name;
}

// States ------------------------------------------------------------------------------------------------------------

/** @type {Record<string, string>} */
const LISTED = { ready: "", reading: "opening", nothing: "nothing", missing: "none", failed: "failed" };

/**
 * The name of the state that shows what a listing says of itself.
 * @param {string} state
 */
export const listedState = (state) => LISTED[state] ?? "opening";

/**
 * A problem: its file and what is wrong.
 * @param {"li" | "p"} tag
 */
const problemLine = (tag) => (/** @type {Wire.DamagedFile} */ { path, text, note }) =>
  make(tag, note ? "ms-body-note" : "", [make("span", "ms-mono", path), " ", text]);

/**
 * @param {Body.Page} page
 * @param {string} name
 * @param {{ text?: string, problems?: Wire.DamagedFile[] }} wrong
 */
function drawWrong(page, name, { text = "", problems = [] }) {
  if (name === "failed") page.find(".ms-body-why").textContent = text;
  page.find(".ms-body-found").replaceChildren(...(name === "nothing" ? problems.map(problemLine("li")) : []));
}

/**
 * Offer in a state what has the data that is missing here.
 * @param {Body.Page} page
 * @param {string} state
 * @param {string} subject
 * @param {{ text: string, act: () => void }[]} choices
 */
export function drawElsewhere(page, state, subject, choices) {
  const buttons = choices.map(({ text, act }) => {
    const button = make("button", "ms-button", nameElement(text), { type: "button", title: text });
    button.addEventListener("click", act);
    return button;
  });
  page.find(`[data-state="${state}"] .ms-body-elsewhere`).replaceChildren(
    ...(buttons.length ? [words(`${subject}.elsewhere`, {}, "span", "ms-muted"), ...buttons] : []));
}

/**
 * @param {Body.Page} page
 * @param {string} subject
 * @param {Body.Damage | null} damage
 */
function drawDamage(page, subject, damage) {
  const host = page.find(".ms-body-damage");
  if (!host || !damage) return;
  const { problems = [], more = 0, notes = 0 } = damage;
  host.hidden = !problems.length;
  // At the foot of a page the list opens below the window.
  host.ontoggle = () => host.open && host.querySelector(".ms-popover").scrollIntoView({ block: "nearest" });
  const damaged = problems.filter(({ note }) => !note).length + more;
  writeText(host.querySelector("summary"), damaged ? `${subject}.damaged_n` : "body.notes_n", { n: count(damaged || notes) });
  host.classList.toggle("ms-body-notes", !damaged);
  host.querySelector(".ms-popover").replaceChildren(...problems.map(problemLine("p")));
}

// Controls ----------------------------------------------------------------------------------------------------------

/**
 * Fill a select; it is hidden if there is no choice.
 * @param {HTMLSelectElement} control
 * @param {string[][]} choices
 * @param {string} chosen
 */
export function fill(control, choices, chosen) {
  fillSelect(control, choices, chosen);
  control.hidden = choices.length < 2;
}

/**
 * The text keys of a choice of one number: ranks or steps.
 * @param {string} subject
 * @param {string} what
 */
export function numberTexts(subject, what) {
  const [label, total] = [`${subject}.${what}`, `${subject}.of_total`];
  return { label, previous: `${label}_previous`, next: `${label}_next`, absent: `${label}_absent`, total };
}

/**
 * The button that begins and ends a comparison.
 * @param {string} subject
 * @param {string} tip
 * @param {() => void} act
 */
export function compareButton(subject, tip, act) {
  const button = make("button", "ms-button", [icon("compare"), words(`${subject}.compare`)], {
    type: "button", "aria-pressed": "false",
  });
  setLabel(button, "title", tip);
  button.addEventListener("click", act);
  return button;
}

/**
 * The attributes of a link to a page of ours with further state; runs are those to select in a new tab.
 * @param {string} name
 * @param {string[] | undefined} runs
 * @param {Wire.Query} state
 */
export function pageLink(name, runs, state) {
  const query = formatQuery(state);
  return { href: `${name}?${runs ? `${formatQuery({ run: runs })}&` : ""}${query}`, "data-page": name, "data-query": query };
}
