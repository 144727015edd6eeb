// Remarks and tags of runs: grid cells and the boxes to edit them (that of colours is in colour_box.js). Counterpart of
// layouts/runs/notes.py. Edits are posted to the routes of app/routes/runs/notes.py; edits of others arrive with the list of
// runs.

import { cellRenderers, gridFunctions } from "./ag_grid.js";
import { icon, iconButton, make, words } from "./elements.js";
import { setLabel, translate, writeText } from "./i18n.js";
import { poll, routesOf } from "./polling.js";
import { count } from "./units.js";

// Same as in layouts/runs/notes.py.
const ICONS = ["star", "flag", "check", "cross", "question", "bug", "pin", "bolt", "eye", "clock"];
const MOST_TAGS = 10;
const LONGEST_TAG = 40;
const LONGEST_REMARK = 10000;
const WARN_BELOW = 500;
const COLUMNS = ["remark", "tags"];
const MARGIN = 8;
const SUGGESTED = 200;

/**
 * An open box over an element.
 * @typedef {object} NoteBox
 * @property {HTMLElement} element
 * @property {string} frame
 * @property {string} routes
 * @property {string} key
 * @property {() => void} back restores the focus
 * @property {() => void} update called when notes of others have arrived
 * @property {() => void} leave called when the user turns to something else
 * @property {DOMRect} anchor where the element is that the box lies over
 */

/** @type {Map<string, Wire.Notebook>} */
const books = new Map();  // frame -> the notebook of its list of runs
/** @type {NoteBox | null} */
let box = null;  // the open one

/**
 * @param {string} frame
 * @param {Wire.Notebook} book
 */
export function take(frame, book) {
  if (books.get(frame) === book) return;
  books.set(frame, book);
  document.documentElement.toggleAttribute("data-read-only", book.readOnly);
  if (box && box.frame === frame) box.update();
  window.dispatchEvent(new CustomEvent("mindscope:notes", { detail: { frame, book } }));
}

/**
 * The frame that an element lies in; "", which has no notebook, for the element of a page that was left: answers that were
 * under way are still drawn into it.
 * @param {Element} element
 * @returns {string}
 */
export function frameOf(element) {
  return element.closest(".ms-frame")?.dataset.frame ?? "";
}

/**
 * @param {Wire.Notebook} book
 * @param {string} key
 * @returns {Wire.Note}
 */
export function noteOf(book, key) {
  return book.notes[key] || book.empty;
}

/**
 * The notebook of the list of runs around an element; null before it has arrived.
 * @param {Element} element
 * @returns {Wire.Notebook | null}
 */
export function bookOf(element) {
  const frame = element.closest(".ms-frame");
  return (frame && books.get(frame.dataset.frame)) || null;
}

/**
 * The notebook of a frame.
 * @param {string} frame
 * @returns {Wire.Notebook | undefined}
 */
export const bookOfFrame = (frame) => books.get(frame);

/**
 * Post a change; rejects with an Error whose message tells the user why nothing was written.
 * @param {string} routes
 * @param {string} name
 * @param {Record<string, unknown>} change
 */
export async function post(routes, name, change) {
  let answer;
  try {
    answer = await fetch(routes + name, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(change),
    });
  } catch {
    throw new Error(translate("notes.no_answer"));
  }
  const content = await answer.json().catch(() => ({}));
  if (!answer.ok) throw new Error(content.error || `${answer.status} ${answer.statusText}`);
  return content;
}

// What is shown -----------------------------------------------------------------------------------------------------

/** @param {string} tag */
const isIcon = (tag) => tag.startsWith(":") && ICONS.includes(tag.slice(1));

/** @param {string} tag */
function tagText(tag) {
  return isIcon(tag) ? translate(`tag.${tag.slice(1)}`) : tag;
}

/** @param {string[]} tags */
export function tagsText(tags) {
  return tags.map(tagText).join(", ");
}

/** @param {string} tag */
function tagElement(tag) {
  if (!isIcon(tag)) return make("span", "ms-label", tag);
  const element = make("span", "ms-label-icon", icon(tag.slice(1)), { role: "img" });
  for (const name of ["title", "aria-label"]) setLabel(element, name, `tag.${tag.slice(1)}`);
  return element;
}

gridFunctions.mindscopeRemark = (row) => (row && row.note && row.note.remark) || null;
gridFunctions.mindscopeNoteTags = (row) => (row && row.note && row.note.tags.length ? tagsText(row.note.tags) : null);
// Missing values come last in either direction.
gridFunctions.mindscopeNoteOrder = (a, b, _nodeA, _nodeB, descending) => {
  if ((a === null) !== (b === null)) return (a === null) === descending ? -1 : 1;
  return a === null ? 0 : a.localeCompare(b, undefined, { numeric: true });
};

cellRenderers.MindscopeNoteTags = ({ data }) => {
  /**
   * @param {Record<string, unknown>} props
   * @param {unknown} [content]
   */
  const element = (props, content) => window.React.createElement("span", props, content);
  /** @type {string[]} */
  const tags = (data.note && data.note.tags) || [];
  return element({ className: "ms-labels" }, tags.map((tag) => (isIcon(tag)
    ? element({ key: tag, className: "ms-label-icon", role: "img", title: tagText(tag), "aria-label": tagText(tag) },
        element({ className: `ms-icon ms-icon-${tag.slice(1)}` }))
    : element({ key: tag, className: "ms-label" }, tag))));
};

// Column definitions for remark and tags.
export function columns() {
  /**
   * @param {string} name
   * @param {string} value
   * @param {Record<string, unknown>} more
   */
  const column = (name, value, more) => ({
    colId: name,
    headerName: translate(`notes.${name}`),
    headerTooltip: translate("notes.edit_tip"),
    valueGetter: { function: `${value}(params.data)` },
    tooltipValueGetter: { function: "params.value" },
    cellClass: "ms-note-cell",
    comparator: { function: "mindscopeNoteOrder" },
    filter: "agTextColumnFilter",
    ...more,
  });
  return [
    column("remark", "mindscopeRemark", { initialWidth: 200 }),
    column("tags", "mindscopeNoteTags", { initialWidth: 130, cellRenderer: "MindscopeNoteTags" }),
  ];
}

/** @param {GridEvent} event */
export function isCell(event) {
  const target = event.event && event.event.target;
  const cell = target instanceof Element && target.closest(".ag-cell");
  return Boolean(cell) && COLUMNS.includes(cell.getAttribute("col-id"));
}

/**
 * Start editing a cell by double click, Enter or F2.
 * @param {GridApi} api
 */
export function attach(api) {
  /** @param {GridEvent} event */
  const edit = (event) => {
    if (!event.data.note) return;
    const cell = event.event.target?.closest(".ag-cell");
    const name = cell.getAttribute("col-id");
    const back = () => {
      const node = api.isDestroyed() ? null : api.getRowNode(event.node.id);
      if (node) api.setFocusedCell(node.rowIndex, name);
    };
    open(name, cell, event.data.key, event.data.name, back);
  };
  api.addEventListener("cellDoubleClicked", (event) => { if (isCell(event)) edit(event); });
  api.addEventListener("cellKeyDown", (event) => {
    if (!isCell(event) || !["Enter", "F2"].includes(event.event.key)) return;
    event.event.preventDefault();
    edit(event);
  });
}

/**
 * Tags and remark of one run, with buttons to edit them.
 * @param {HTMLElement} host
 * @param {Wire.Notebook} book
 * @param {string} key
 * @param {string} name
 */
export function line(host, book, key, name) {
  const note = noteOf(book, key);
  const mark = JSON.stringify([key, note, book.kept, book.whyNot]);
  if (host.dataset.mark === mark) return;
  host.dataset.mark = mark;
  if (!book.kept && !note.remark && !note.tags.length) {
    host.replaceChildren(...(book.readOnly ? [] : [refusal(book)]));
    return;
  }
  if (book.readOnly) {
    host.replaceChildren(
      make("span", "ms-note-tags", note.tags.map(tagElement)),
      make("span", "ms-note-remark", note.remark, note.by ? { title: note.by } : {}),
    );
    return;
  }
  const remark = make("button", "ms-note-remark", note.remark || [icon("pencil"), words("notes.add_remark")], {
    type: "button",
  });
  setLabel(remark, "title", "notes.edit_remark");
  remark.classList.toggle("ms-muted", !note.remark);
  const tags = make(
    "button",
    "ms-note-tags",
    note.tags.length ? note.tags.map(tagElement) : [icon("pencil"), words("notes.add_tags")],
    { type: "button" },
  );
  setLabel(tags, "title", "notes.edit_tags");
  tags.classList.toggle("ms-muted", !note.tags.length);
  /** @param {string} selector */
  const again = (selector) => () => { const button = host.querySelector(selector); if (button) button.focus(); };
  remark.addEventListener("click", () => open("remark", remark, key, name, again(".ms-note-remark")));
  tags.addEventListener("click", () => open("tags", tags, key, name, again(".ms-note-tags")));
  host.replaceChildren(tags, remark);
}

// Boxes -------------------------------------------------------------------------------------------------------------

/** @param {Wire.Notebook} book */
export function refusal(book) {
  if (book.readOnly) return words("notes.read_only", {}, "span", "ms-muted");
  return book.whyNot
    ? words("notes.trouble", { text: book.whyNot }, "span", "ms-note-wrong")
    : words("notes.not_kept", {}, "span", "ms-muted");
}

/**
 * Open the box of a remark or of tags over an element. what: "remark" or "tags"; back: restores the focus.
 * @param {"remark" | "tags"} what
 * @param {HTMLElement} anchor
 * @param {string} key
 * @param {string} name
 * @param {() => void} back
 */
export function open(what, anchor, key, name, back) {
  const [label, fill] = what === "remark" ? ["notes.remark_of", remarkBox] : ["notes.tags_of", tagsBox];
  openBox({ what, anchor, frame: frameOf(anchor), key, label, name, back, fill });
}

/**
 * Open a box over an element. fill(box) adds its content; back restores the focus.
 * @param {{ what: string, anchor: Element, frame: string, key: string, label: string, name: string, back: () => void,
 *   fill: (box: NoteBox) => void }} wanted
 */
export function openBox({ what, anchor, frame, key, label, name, back, fill }) {
  if (box) box.leave();
  const book = books.get(frame);
  if (!book) return;
  const element = make("div", `ms ms-note-box ms-note-box-${what}`, [], { role: "dialog", tabindex: "-1" });
  setLabel(element, "aria-label", label, { name });
  /** @type {NoteBox} */
  const made = {
    element,
    frame,
    routes: routesOf(frame),
    key,
    back,
    update: () => {},
    leave: () => close(made),
    anchor: anchor.getBoundingClientRect(),
  };
  box = made;
  document.body.append(element);
  element.addEventListener("keydown", (event) => keyed(made, event));
  if (!book.kept) {
    element.append(refusal(book));
    element.focus();
  } else fill(made);
  place(made);
}

/** @param {NoteBox} made */
export function close(made) {
  if (box !== made) return;
  box = null;
  const inside = made.element.contains(document.activeElement) || document.activeElement === document.body;
  made.element.remove();
  if (inside) made.back();
}

/**
 * @param {NoteBox} made
 * @param {KeyboardEvent} event
 */
function keyed(made, event) {
  event.stopPropagation();
  if (event.isComposing) return;
  if (event.key === "Escape") close(made);
  if (event.key !== "Tab") return;
  // Keep the focus inside of the box.
  const stops = Array.from(made.element.querySelectorAll("button, input, textarea")).filter(
    (stop) => !stop.disabled && stop.offsetParent,
  );
  const [first, last] = event.shiftKey ? [stops[0], stops[stops.length - 1]] : [stops[stops.length - 1], stops[0]];
  if (last && document.activeElement === first) {
    event.preventDefault();
    last.focus();
  }
}

/** @param {NoteBox} box */
function place({ element, anchor }) {
  const { width, height } = element.getBoundingClientRect();
  const low = Math.max(MARGIN, window.innerHeight - height - MARGIN);
  const left = Math.max(MARGIN, Math.min(anchor.left, window.innerWidth - width - MARGIN));
  Object.assign(element.style, { left: `${left}px`, top: `${Math.min(anchor.top, low)}px` });
}

document.addEventListener("pointerdown", (event) => {
  if (box && !(event.target instanceof Node && box.element.contains(event.target))) box.leave();
}, true);
for (const name of ["popstate", "_dashprivate_pushstate"]) window.addEventListener(name, () => { if (box) box.leave(); });
window.addEventListener("resize", () => { if (box) place(box); });

/**
 * @param {NoteBox} made
 * @param {HTMLElement} host
 * @param {unknown} error
 */
export function showFailure(made, host, error) {
  const text = error instanceof Error ? error.message : String(error);
  host.replaceChildren(words("notes.failed", { text }, "p", "ms-note-wrong"));
  host.hidden = false;
  place(made);
}

/**
 * The notebook of a frame with an open box: a box opens only where there is one.
 * @param {string} frame
 */
function bookIn(frame) {
  const book = books.get(frame);
  if (!book) throw new Error(`The frame ${frame} has no notebook.`);
  return book;
}

/** @param {NoteBox} made */
function remarkBox(made) {
  const { frame, routes, key, element } = made;
  const before = noteOf(bookIn(frame), key);
  let base = before.version;
  let busy = false;
  const field = make("textarea", "ms-input ms-note-field", [], {
    rows: "3",
    maxlength: String(LONGEST_REMARK),
    spellcheck: "false",
  });
  setLabel(field, "aria-label", "notes.remark");
  field.value = before.remark;
  const trouble = make("div", "ms-note-trouble", [], { hidden: "", role: "alert" });
  const left = make("span", "ms-muted ms-grow");
  const author = before.by ? [words("notes.by", { name: before.by }, "div", "ms-muted ms-cut")] : [];
  const saveButton = make("button", "ms-button ms-button-small", words("notes.save"), { type: "button" });
  saveButton.addEventListener("click", () => save());
  const foot = make("div", "ms-note-foot", [left, saveButton]);
  element.append(field, trouble, ...author, foot);

  function size() {
    field.style.height = "auto";
    field.style.height = `${Math.min(field.scrollHeight + 2, 320)}px`;
    const n = LONGEST_REMARK - field.value.length;
    if (n < WARN_BELOW) writeText(left, "notes.left", { n: count(n) });
    else writeText(left, "notes.keys");
  }

  async function save() {
    if (busy) return;
    if (base === before.version && field.value.trim() === before.remark) {
      close(made);
      return;
    }
    busy = field.readOnly = true;
    try {
      const { done, now } = await post(routes, "note", { run: key, remark: field.value, was: base });
      poll();
      if (done) close(made);
      else quarrel(now);
    } catch (error) {
      showFailure(made, trouble, error);
      poll();
    }
    busy = field.readOnly = false;
  }

  /** @param {Wire.Note} now */
  function quarrel(now) {
    /** @type {[string, () => void][]} */
    const actions = [
      ["notes.mine", () => { base = now.version; save(); }],
      ["notes.theirs", () => close(made)],
      ["notes.both", () => {
        base = now.version;
        field.value = [now.remark, field.value].filter(Boolean).join("\n");
        trouble.hidden = true;
        foot.hidden = false;
        size();
        place(made);
        field.focus();
      }],
    ];
    const choices = actions.map(([name, act]) => {
      const button = make("button", "ms-button ms-button-small", words(name), { type: "button" });
      button.addEventListener("click", act);
      return button;
    });
    const theirs = now.remark
      ? make("div", "ms-note-theirs", now.remark)
      : words("notes.nothing", {}, "div", "ms-note-theirs ms-muted");
    trouble.replaceChildren(words("notes.changed", {}, "p"), theirs, make("div", "ms-note-foot", choices));
    trouble.hidden = false;
    foot.hidden = true;
    place(made);
    choices[0].focus();
  }

  field.addEventListener("input", () => { size(); place(made); });
  field.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    save();
  });
  // Leaving the box saves the remark, unless an error is shown.
  made.leave = () => { if (trouble.hidden) save(); };
  size();
  field.focus();
  field.setSelectionRange(field.value.length, field.value.length);
}

/** @param {NoteBox} made */
function tagsBox(made) {
  const { frame, routes, key, element } = made;
  /** @type {Map<string, boolean>} */
  const changes = new Map();  // tag -> wanted state, until the list of runs confirms it
  let line = Promise.resolve();
  const trouble = make("div", "ms-note-trouble", [], { hidden: "", role: "alert" });
  const icons = ICONS.map((name) => {
    const button = iconButton(name, `tag.${name}`, "tag");
    button.addEventListener("click", () => change(`:${name}`, button.getAttribute("aria-pressed") !== "true"));
    return button;
  });
  const list = make("div", "ms-note-words");
  const suggestions = make("datalist", "", [], { id: "ms-note-suggestions" });
  const field = make("input", "ms-input", [], {
    type: "text",
    maxlength: String(LONGEST_TAG),
    list: suggestions.id,
    autocomplete: "off",
  });
  for (const name of ["placeholder", "aria-label"]) setLabel(field, name, "notes.word");
  element.append(make("div", "ms-note-icons", icons), list, field, suggestions, trouble);

  function tags() {
    const kept = new Set(noteOf(bookIn(frame), key).tags);
    for (const [tag, on] of changes) {
      if (kept.has(tag) === on) changes.delete(tag);
      else if (on) kept.add(tag);
      else kept.delete(tag);
    }
    return kept;
  }

  /**
   * Changes are sent one at a time; the server merges them with those of others.
   * @param {string} tag
   * @param {boolean} on
   */
  function change(tag, on) {
    const now = tags();
    if (on && !now.has(tag) && now.size >= MOST_TAGS) {
      trouble.replaceChildren(words("notes.full", { n: MOST_TAGS }, "p"));
      trouble.hidden = false;
      return;
    }
    trouble.hidden = true;
    changes.set(tag, on);
    show();
    line = line.then(async () => {
      try {
        await post(routes, "note", { run: key, [on ? "add" : "remove"]: [tag] });
      } catch (error) {
        changes.delete(tag);
        showFailure(made, trouble, error);
        show();
      }
      poll();
    });
  }

  /** @param {string} tag */
  function word(tag) {
    const remove = iconButton("close", "notes.remove", "untag");
    for (const name of ["title", "aria-label"]) setLabel(remove, name, "notes.remove", { tag });
    remove.addEventListener("click", () => { field.focus(); change(tag, false); });
    return make("span", "ms-label", [make("span", "ms-cut ms-name", tag), remove]);
  }

  function show() {
    const now = tags();
    ICONS.forEach((name, i) => icons[i].setAttribute("aria-pressed", String(now.has(`:${name}`))));
    const own = Array.from(now).filter((tag) => !isIcon(tag)).sort();
    list.replaceChildren(...own.map(word));
    list.hidden = own.length === 0;
    const used = new Set(
      Object.values(bookIn(frame).notes)
        .flatMap((note) => note.tags)
        .filter((tag) => !isIcon(tag) && !now.has(tag)),
    );
    suggestions.replaceChildren(
      ...Array.from(used)
        .sort()
        .slice(0, SUGGESTED)
        .map((tag) => make("option", "", [], { value: tag })),
    );
    place(made);
  }

  field.addEventListener("keydown", (event) => {
    if (event.isComposing) return;
    if (event.key === "Backspace" && !field.value && list.lastElementChild) {
      change(list.lastElementChild.firstElementChild?.textContent || "", false);
    }
    if (event.key !== "Enter") return;
    event.preventDefault();
    add();
    if (!field.dataset.added) close(made);
  });
  // A comma ends a tag.
  field.addEventListener("input", () => { if (/[,，]/.test(field.value)) add(); });
  function add() {
    const found = field.value.split(/[,，]/).map((text) => text.replace(/\s+/g, " ").trim().replace(/^:+/, "")).filter(Boolean);
    field.dataset.added = found.length ? "1" : "";
    field.value = "";
    for (const tag of found) change(tag, true);
  }

  made.update = show;
  made.leave = () => { add(); close(made); };
  show();
  field.focus();
}
