// The timeline: controls, state, keys. Counterpart of layouts/profiles/timeline. line.js draws, finding.js tells of slices.

import { setDescription } from "../../kit/alternatives.js";
import { functionsOf } from "../../kit/dash.js";
import {
  fillSelect, icon, iconButton, make, menu, pressSegment, segments, select, takesText, words,
} from "../../kit/elements.js";
import { reasonOf } from "../../kit/reasons.js";
import { count, percent } from "../../kit/units.js";
import { setLabel, translate, writeText } from "../../kit/i18n.js";
import { notYet } from "../../kit/pages.js";
import { last, same } from "../../kit/state.js";
import * as profiling from "../profiles.js";
import * as camera from "./camera.js";
import { pacesOf } from "./colours.js";
import * as finding from "./finding.js";
import { timeAt } from "./geometry.js";
import { listen } from "./input.js";
import { namesIn } from "./labels.js";
import * as lines from "./line.js";
import { goToFirst } from "./links.js";
import { closeMenu, fold, openMenu } from "./menus.js";
import { drawMarkList, markFields, takeMarks } from "./marks.js";
import { makePanel } from "./panel.js";
import { drawParts, namesOf, partFields, queryOf } from "./traces.js";
import { saveDrawing, savePicture } from "./picture.js";
import { Names, Server } from "./server.js";
import { listenToStrip, loadStrip } from "./strip.js";
import { treeOf } from "./tracks.js";

const COLOURS = ["name", "category", "kind", "pace"];
/** @type {Timeline.Height[]} */
const HEIGHTS = ["small", "medium", "large"];
const ZOOM = 0.7;
const PAN = 0.15;
const SCROLL = 60;
const TYPED_MS = 300;
const MOST_STEPS = 2000;
const POLL_MS = 400;

/**
 * @param {Timeline.Page} page
 * @param {string} key
 * @param {string} [fallback]
 */
const get = (page, key, fallback = "") => last(page.state, key, fallback);

// The page -----------------------------------------------------------------------------------------------------------

/**
 * @param {Timeline.Page} page
 * @returns {Omit<Timeline.Page, keyof Profiles.Page>}
 */
function fields(page) {
  const tools = toolFields(page);
  return {
    line: notYet, slices: new Map(), opened: 0, traceOf: null, own: "", applied: null, savedSpan: "", zoomStep: null,
    timers: {}, menu: null, moving: false, hovered: null, rangeFound: null, rangeTurn: 0, searchTurn: 0, hitAt: -1,
    ...tools, ...partFields(page), ...markFields(page), ...boxFields(page, tools.legend),
  };
}

/** @param {Timeline.Page} page */
function build(page) {
  buildTools(page);
  const box = page.host.root;
  box.addEventListener("click", (event) => {
    const button = event.target instanceof Element && event.target.closest("[data-act][data-id]");
    if (!button || !page.line) return;
    if (button.dataset.act === "fold") fold(page, button.dataset.id);
    if (button.dataset.act === "menu") openMenu(page, button);
  });
  new ResizeObserver(() => page.line && lines.redraw(page.line)).observe(box);
  window.addEventListener("mindscope:prefs", () => page.line && lines.refresh(page.line));
}

/**
 * @param {Timeline.Page} page
 * @returns {Timeline.ToolFields}
 */
function toolFields(page) {
  /**
   * @param {string} name
   * @param {string} label
   * @param {(line: Timeline.Line) => void} run
   */
  const act = (name, label, run) => {
    const button = iconButton(name, label, label);
    button.addEventListener("click", () => page.line && run(page.line));
    return button;
  };
  const backButton = act("left", "timeline.back", (line) => lines.travel(line, -1));
  const forwardButton = act("right", "timeline.forward", (line) => lines.travel(line, 1));
  const zooms = make("span", "ms-timeline-group", [
    act("plus", "timeline.in", (line) => lines.zoom(line, ZOOM)),
    act("minus", "timeline.out", (line) => lines.zoom(line, 1 / ZOOM)),
    act("restore", "timeline.whole", (line) => lines.show(line, camera.whole(line.facts))), backButton, forwardButton,
  ]);
  const stepSelect = select("timeline.step", (at) => finding.zoomToStep(page, Number(at)));
  stepSelect.hidden = true;
  const zeroSelect = select("timeline.zero", (zero) => page.change({ zero: zero === "trace" ? [] : [zero] }));
  const colourSelect = select("timeline.colour", (colour) => page.change({ colour: colour === "name" ? [] : [colour] }));
  const heights = segments("timeline.height", HEIGHTS.map((one) => [one, `timeline.height.${one}`]),
    (height) => page.change({ height: height === "medium" ? [] : [height] }));
  const legend = make("span", "ms-timeline-legend");
  const search = make("input", "ms-input ms-filter ms-timeline-search", [], { type: "search", spellcheck: "false" });
  for (const name of ["placeholder", "aria-label"]) setLabel(search, name, "timeline.search");
  search.addEventListener("input", () => later(page, "search", () => page.change({ q: entered(search) })));
  search.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && page.line && page.line.hits) finding.nextHit(page, event.shiftKey ? -1 : 1);
  });
  const regex = make("button", "ms-button ms-timeline-regex", ".*", { type: "button", "aria-pressed": "false" });
  for (const name of ["title", "aria-label"]) setLabel(regex, name, "timeline.regex");
  regex.addEventListener("click", () => page.change({ regex: get(page, "regex") === "1" ? [] : ["1"] }));
  const shortest = make("input", "ms-input ms-timeline-shortest", [], { type: "number", min: "0", step: "any" });
  setLabel(shortest, "aria-label", "timeline.shortest");
  shortest.addEventListener("change", () => page.change({ shortest: entered(shortest) }));
  const previousHit = act("up", "timeline.previous_hit", () => finding.nextHit(page, -1));
  const nextHit = act("down", "timeline.next_hit", () => finding.nextHit(page, 1));
  const hitCount = make("span", "ms-muted ms-timeline-hits");
  const hitTools = make("span", "ms-timeline-group ms-timeline-found", [hitCount, previousHit, nextHit]);
  const traceLink = make("a", "ms-menu-item", words("timeline.trace_json"), { download: "" });
  const searchedIn = make("button", "ms-button ms-button-small ms-timeline-in", [], { type: "button", hidden: "" });
  searchedIn.addEventListener("click", () => page.change({ in: [] }));
  return {
    backButton, forwardButton, zooms, stepSelect, zeroSelect, colourSelect, heights, legend, search, regex, shortest,
    previousHit, nextHit, hitCount, hitTools, traceLink, searchedIn,
  };
}

/** @param {Timeline.Page} page */
function buildTools(page) {
  const png = make("button", "ms-menu-item", words("timeline.png"), { type: "button" });
  png.addEventListener("click", () => savePicture(page));
  const svg = make("button", "ms-menu-item", words("timeline.svg"), { type: "button", "data-file": "svg" });
  svg.addEventListener("click", () => page.line && saveDrawing(page));
  const files = make("summary", "ms-button ms-button-icon", icon("download"));
  for (const name of ["title", "aria-label"]) setLabel(files, name, "timeline.files");
  const display = menu(make("summary", "ms-button", [words("timeline.display"), icon("down")]), [
    words("timeline.colour"), page.colourSelect, words("timeline.height"), page.heights,
    words("timeline.zero"), page.zeroSelect, words("timeline.shortest"), page.shortest,
  ]);
  display.classList.add("ms-timeline-display");
  const find = make("span", "ms-timeline-find", [page.search, page.regex]);
  page.tools.replaceChildren(
    page.partsMenu, page.zooms, page.stepSelect, display, page.marks.element,
    make("span", "ms-timeline-tools-gap"), page.searchedIn, find, page.hitTools,
    menu(files, [page.traceLink, png, svg]));
  page.tools.classList.add("ms-adds-page");
}

/**
 * The elements of a timeline, put in place; made anew for each trace.
 * @param {Timeline.Page} page
 * @param {HTMLElement} legend
 * @returns {Timeline.BoxFields}
 */
function boxFields(page, legend) {
  const box = page.find(".ms-timeline-box");
  /**
   * @param {string} name
   * @param {Node | (Node | string)[]} [children]
   * @param {Record<string, string>} [attributes]
   */
  const part = (name, children = [], attributes = {}) => make("div", `ms-timeline-${name}`, children, attributes);
  const stripName = make("span", "ms-timeline-strip-name");
  const strip = make("canvas", "ms-timeline-strip", [], { "aria-hidden": "true" });
  const base = make("span", "ms-timeline-base");
  const ruler = make("canvas", "ms-timeline-ruler", [], { "aria-hidden": "true" });
  const filter = make("input", "ms-input ms-timeline-filter", [], { type: "search", spellcheck: "false" });
  for (const name of ["placeholder", "aria-label"]) setLabel(filter, name, "timeline.filter");
  filter.addEventListener("input", () => later(page, "filter", () => page.change({ filter: entered(filter) })));
  const hiddenButton = make("button", "ms-button ms-timeline-hidden", [], { type: "button" });
  hiddenButton.hidden = true;
  hiddenButton.addEventListener("click", () => page.change({ hide: [] }));
  const labels = part("labels");
  const pinnedLabels = part("labels ms-timeline-labels-pinned");
  const canvas = make("canvas", "ms-timeline-canvas");
  const overlay = make("canvas", "ms-timeline-overlay");
  const canvasHost = part("canvas-host", [canvas, overlay], { tabindex: "0", role: "application" });
  setLabel(canvasHost, "aria-label", "timeline.canvas");
  const sizer = part("sizer");
  const view = part("view", [part("label-host", [labels, pinnedLabels]), canvasHost]);
  const scroll = part("scroll", [view, sizer]);
  const empty = make("p", "ms-timeline-empty ms-muted");
  const tip = part("tip", [], { hidden: "", role: "status" });
  const panelHost = part("panel", [], { hidden: "" });
  const hints = words("timeline.keys", {}, "span", "ms-cut");
  const about = make("span", "ms-timeline-about-trace ms-cut");
  const progress = make("span", "ms-timeline-progress", [], { hidden: "", role: "status" });
  box.replaceChildren(
    part("top", [part("corner", stripName), part("strip-host", strip)]),
    part("axis", [part("corner", [filter, hiddenButton, base]), part("ruler-host", ruler)]),
    part("body", [scroll, empty, tip]), panelHost,
    part("foot", [hints, progress, legend, about]));
  const panel = makePanel(panelHost, {
    close: () => finding.closePanel(page), tab: (name) => finding.openTab(page, name),
    go: (row) => finding.choose(page, row, true), same: (by) => finding.chooseSame(page, by),
    zoomSlice: () => finding.zoomToChosen(page), zoomRange: () => finding.zoomToChosen(page, "range"),
    clearRange: () => page.change({ range: [], over: [] }),
    clearOver: () => page.change({ over: [] }), hit: (place) => finding.goToHit(page, place),
    setBy: (by) => page.change({ by: by === "name" ? [] : [by] }),
    setStream: (track) => page.change({ stream: [page.line.ids[Number(track)]] }),
    setPart: (key, part) => page.change({ [key]: [part] }),
    showTime: (from, length) => lines.show(page.line, camera.around(from, length)),
    setClip: (clip) => page.change({ clip: clip === "1" ? [] : [clip] }),
    searchFor: (name) => page.change({ q: [name], regex: [] }),
  });
  scroll.addEventListener("scroll", () => closeMenu(page));
  const host = {
    root: box, stripName, strip, base, ruler, labels, pinnedLabels, canvas, overlay, canvasHost, sizer, view, scroll, empty,
    tip,
  };
  return { host, filter, hiddenButton, hints, about, progress, panel };
}

/**
 * The text of a field as the state has it.
 * @param {HTMLInputElement} field
 */
const entered = (field) => (field.value ? [field.value] : []);

/**
 * @param {Timeline.Page} page
 * @param {string} name
 * @param {() => void} act
 */
function later(page, name, act) {
  window.clearTimeout(page.timers[name]);
  page.timers[name] = window.setTimeout(act, TYPED_MS);
}

// Opening a trace ----------------------------------------------------------------------------------------------------

/**
 * @param {Timeline.Page} page
 * @param {Wire.Query} ask
 */
async function open(page, ask) {
  page.asked = ask;
  const query = queryOf(page, ask);
  const mark = JSON.stringify([query, ask.mark]);
  if (page.traceOf === mark) return;
  page.traceOf = mark;
  const turn = (page.opened += 1);
  const server = new Server(page.root.dataset.routes || "", query);
  const own = JSON.stringify([ask.run, ask.session, ask.rank, ask.mark, page.state.source || []]);
  // When others join the page's own trace, it stays on screen until they have been read.
  if (page.own !== own || !page.line) {
    if (page.line) lines.close(page.line);
    page.line = notYet;
    Object.assign(page, boxFields(page, page.legend));
    writeText(page.host.empty, "timeline.loading");
    page.host.empty.hidden = false;
  }
  page.own = own;
  let facts;
  try {
    if (!(await whenRead(page, server, turn))) return;
    facts = await server.json("tracks");
  } catch (error) {
    if (turn !== page.opened) return;
    page.traceOf = null;
    const element = page.line ? page.progress : page.host.empty;
    element.hidden = false;
    element.classList.add("ms-timeline-wrong");
    writeText(element, "timeline.failed", { text: reasonOf(error) });
    drawParts(page);
    return;
  }
  if (turn !== page.opened) return;
  const before = page.line && { facts: page.line.facts, range: page.line.range, scroll: page.host.scroll.scrollTop };
  if (page.line) lines.close(page.line);
  page.slices.clear();
  Object.assign(page, boxFields(page, page.legend));
  page.host.empty.hidden = true;
  begin(page, server, facts, before);
  watch(page, server, turn);
}

/**
 * Wait until all traces have been read; false if something else has been asked for meanwhile.
 * @param {Timeline.Page} page
 * @param {Server} server
 * @param {number} turn
 */
async function whenRead(page, server, turn) {
  for (;;) {
    /** @type {Timeline.Known[]} */
    const known = await server.json("reading");
    if (turn !== page.opened) return false;
    page.known = known;
    const failed = known.find((one) => ["failed", "cancelled", "missing"].includes(one.state));
    if (failed) throw new Error([failed.label, failed.text || failed.state].filter(Boolean).join(": "));
    const left = known.filter((one) => one.state !== "ready");
    if (!left.length) return true;
    const parts = page.parts.length > 1 ? namesOf(page) : [""];
    const one = known.findLast(({ state }) => state === "reading") || left[0];
    writeText(page.progress, "timeline.reading", {
      name: parts[known.indexOf(one)], share: progress(one), left: count(left.length),
    });
    page.progress.hidden = false;
    await new Promise((done) => { window.setTimeout(done, POLL_MS); });
    if (turn !== page.opened) return false;
  }
}

/** @param {Timeline.Known} known */
const progress = ({ done, total }) => percent(total ? Math.min(done, total) / total : 0);

/**
 * Until the summary of every trace is there, say how far it is; then draw what waited for it.
 * @param {Timeline.Page} page
 * @param {Server} server
 * @param {number} turn
 */
async function watch(page, server, turn) {
  try {
    while (turn === page.opened && !page.known.every((one) => one.complete)) {
      const [one] = page.known.filter(({ complete }) => !complete);
      page.progress.hidden = false;
      const hatched = page.line.view && page.line.view.pending.size;
      writeText(page.progress, hatched ? "timeline.summing_hatched" : "timeline.summing", { share: progress(one) });
      await new Promise((done) => { window.setTimeout(done, POLL_MS); });
      /** @type {Timeline.Known[]} */
      const known = await server.json("reading");
      if (turn !== page.opened) return;
      page.known = known;
      if (known.every(({ complete }) => complete)) lines.renew(page.line);
    }
    page.progress.hidden = true;
  } catch {
    page.progress.hidden = true;
  }
}

/**
 * What the address has of times, when the start of the axis has been moved by `by` ns.
 * @param {Timeline.Page} page
 * @param {number} by
 */
function movedTimes(page, by) {
  /** @param {string[] | undefined} texts */
  const pairs = (texts) => (texts || []).flatMap((text) => camera.parseRange(text) || [])
    .map((range) => camera.formatRange(camera.moved(range, by)));
  return {
    span: pairs(page.state.span), range: pairs(page.state.range),
    mark: (page.state.mark || []).map(Number).filter(Number.isFinite).map((time) => String(time + by)),
  };
}

/**
 * @param {Timeline.Page} page
 * @param {Server} server
 * @param {Timeline.Facts} facts
 * @param {{ facts: Timeline.Facts, range: Timeline.Range, scroll: number } | null} before
 */
function begin(page, server, facts, before) {
  const parts = page.parts.length > 1 ? namesOf(page) : [""];
  facts.parts.forEach((part, at) => { part.name = parts[at]; });
  for (const track of facts.tracks) track.where = parts[track.part || 0];
  /**
   * @param {number} from
   * @param {number} to
   * @param {boolean} medians
   */
  const fetchNames = (from, to, medians) => server.json("names", { from, to, medians: medians ? 1 : "" });
  const names = new Names(facts.names, fetchNames, () => {
    lines.refresh(line);
    if (page.panel.shown === "search") finding.drawHits(page);
  });
  const tree = treeOf(facts.tracks, facts.parts);
  const line = lines.makeLine(server, facts, tree, names, page.host, (range) => saveRange(page, range));
  page.line = line;
  setDescription(page.host.canvasHost, facts.alternative);
  line.words = { step: translate("timeline.step_n", { n: "" }).trim() };
  page.host.root.classList.toggle("ms-timeline-stepped", facts.steps.length > 0);
  listen(line, {
    /** @param {MouseEvent} event */
    choose: (place, event) => finding.clicked(page, place, event),
    /**
     * @param {Timeline.Range} range
     * @param {string[]} over
     */
    range: (range, over) => page.change({ range: [camera.formatRange(range)], over: finding.restricted(page, over), tab: [] }),
    /**
     * @param {number} x
     * @param {number} y
     */
    hover: (place, x, y) => finding.hover(page, place, x, y), twice: (place) => finding.twice(page, place),
    /** @param {number} time */
    step: (time, ranged) => finding.stepAt(page, time, ranged),
  });
  listenToStrip(line, lines.show);
  /**
   * @param {string} label
   * @param {number} at
   */
  const nameOf = (label, at) => translate("timeline.step_n", { n: label || at + 1 });
  const steps = facts.steps.slice(0, MOST_STEPS).map(([label], at) => [String(at), nameOf(label, at)]);
  fillSelect(page.stepSelect, [["", translate("timeline.no_step")], ...steps], "");
  page.stepSelect.hidden = !facts.steps.length;
  page.zeroSelect.disabled = !facts.steps.length;
  page.host.empty.hidden = facts.slices > 0 || facts.tracks.length > 0;
  writeText(page.host.empty, "timeline.no_slices");
  const files = facts.parts.map((part) => part.file);
  if (files.length > 1) writeText(page.about, "timeline.about_many", { files: files.length, n: count(facts.slices) });
  else writeText(page.about, "timeline.about", { file: files[0].split(/[\\/]/).pop() || "", n: count(facts.slices) });
  page.about.title = files.join("\n");
  const by = before && before.facts.file === facts.file ? facts.parts[0].shift - before.facts.parts[0].shift : 0;
  const times = by ? movedTimes(page, by) : null;
  const wanted = page.zoomStep;
  page.zoomStep = null;
  const step = facts.steps.find(([label]) => label === (wanted || get(page, "step")));
  const asked = wanted ? null : camera.parseRange(times ? times.span[0] : get(page, "span"));
  const range = asked || (step && camera.around(step[1], step[2], 0.96));
  if (range) line.range = camera.within(range, facts.end);
  line.way.add(line.range);
  page.applied = null;
  if (times) {
    page.savedSpan = times.span[0] || "";
    page.change(times);
  }
  drawParts(page);
  apply(page);
  if (wanted && range) lines.show(line, range);
  if (before) page.host.scroll.scrollTop = before.scroll;
  loadStrip(line, lines.redraw);
}

/**
 * @param {Timeline.Page} page
 * @param {Timeline.Range} range
 */
function saveRange(page, range) {
  page.backButton.disabled = !page.line.way.back;
  page.forwardButton.disabled = !page.line.way.forward;
  const everything = camera.whole(page.line.facts);
  const all = Math.abs(range.from - everything.from) < 1 && Math.abs(range.to - everything.to) < 1;
  page.savedSpan = all ? "" : camera.formatRange(range);
  page.change({ span: all ? [] : [page.savedSpan] });
}

// State --------------------------------------------------------------------------------------------------------------

/**
 * @param {string} id
 * @param {Timeline.Height} height
 * @returns {[string, Timeline.Height]}
 */
const tall = (id, height) => [id, height];

/**
 * @param {Timeline.Page} page
 * @returns {Timeline.Look}
 */
function lookOf(page) {
  /** @param {string} key */
  const list = (key) => page.state[key] || [];
  return {
    folded: new Set(list("fold")), opened: new Set(list("open")), hidden: new Set(list("hide")), pinned: list("pin"),
    order: list("order"), filter: get(page, "filter").trim(),
    height: HEIGHTS.find((one) => one === get(page, "height")) || "medium",
    heights: new Map(list("tall").flatMap((entry) => {
      const [id, wanted] = entry.split(":");
      return HEIGHTS.flatMap((one) => (one === wanted ? [tall(id, one)] : []));
    })),
    colour: COLOURS.includes(get(page, "colour")) ? get(page, "colour") : "name",
  };
}

/**
 * Bring what is on screen in step with the state.
 * @param {Timeline.Page} page
 */
function apply(page) {
  const { line, state } = page;
  if (!line) return;
  const first = page.applied === null;
  const before = page.applied || {};
  page.applied = state;
  /** @param {...string} keys */
  const changed = (...keys) => keys.some((key) => !same(before[key] || [], state[key] || []));
  if (first || changed("fold", "open", "hide", "pin", "order", "filter", "height", "tall", "colour")) {
    lines.arrange(line, lookOf(page));
    const shown = line.layout.rows.rows.length + line.layout.pinned.rows.length;
    page.host.empty.hidden = shown > 0;
    const why = !line.facts.tracks.length ? "no_slices" : line.look.filter ? "none_fit" : "none_left";
    if (!shown) writeText(page.host.empty, `timeline.${why}`);
    page.hiddenButton.hidden = !line.layout.hidden;
    writeText(page.hiddenButton, "timeline.hidden", { n: count(line.layout.hidden) });
  }
  fillSelect(page.colourSelect, COLOURS.map((one) => [one, translate(`timeline.colour.${one}`)]), line.look.colour);
  pressSegment(page.heights, line.look.height);
  const zeros = ["trace", "step"].map((one) => [one, translate(`timeline.zero.${one}`)]);
  fillSelect(page.zeroSelect, zeros, get(page, "zero", "trace"));
  drawLegend(page);
  if (document.activeElement !== page.search) page.search.value = get(page, "q");
  if (document.activeElement !== page.filter) page.filter.value = get(page, "filter");
  if (document.activeElement !== page.shortest) page.shortest.value = get(page, "shortest");
  drawSearchedIn(page);
  page.regex.setAttribute("aria-pressed", String(get(page, "regex") === "1"));
  if (first) takeMarks(page);
  line.marks = (state.mark || []).map(Number).filter(Number.isFinite).slice(0, 2);
  setZero(page);
  drawMarkList(page);
  if (changed("span") && get(page, "span") !== page.savedSpan && !first) {
    const range = camera.parseRange(get(page, "span")) || camera.whole(line.facts);
    line.range = camera.within(range, line.facts.end);
    page.savedSpan = get(page, "span");
    line.way.add(line.range);
  }
  if (first) page.savedSpan = get(page, "span");
  page.backButton.disabled = !line.way.back;
  page.forwardButton.disabled = !line.way.forward;
  if (first || changed("range", "over", "by", "clip", "stream", "part", "other", "hide", "filter")) {
    finding.chooseRange(page, camera.parseRange(get(page, "range")));
  }
  if (first || changed("slice")) finding.loadSlice(page, get(page, "slice"), first);
  if (first || changed("q", "regex", "shortest", "in")) finding.search(page);
  if (changed("tab") || first) finding.drawPanel(page);
  if (first || changed("first")) goToFirst(page);
  page.traceLink.href = line.server.url("trace.json", camera.parseRange(get(page, "range")) || {});
  lines.redraw(line);
}

/**
 * In which tracks is searched, if not in all.
 * @param {Timeline.Page} page
 */
function drawSearchedIn(page) {
  const { line, state } = page;
  const named = namesIn(line.tree, state.in || []);
  page.searchedIn.hidden = !named.length;
  if (!named.length) return;
  const key = named.length > 1 ? "timeline.in_tracks" : "timeline.in_track";
  page.searchedIn.replaceChildren(words(key, { name: named[0], n: count(named.length) }, "span", "ms-cut"), icon("close"));
  page.searchedIn.title = named.join("\n");
}

/** @param {Timeline.Page} page */
function setZero(page) {
  const { line } = page;
  line.zero = 0;
  if (get(page, "zero") !== "step") return;
  const middle = (line.range.from + line.range.to) / 2;
  const step = line.facts.steps.findLast(([, start]) => start <= middle) || line.facts.steps[0];
  if (step) line.zero = step[1];
}

/** @param {Timeline.Page} page */
function drawLegend(page) {
  const pace = page.line.look.colour === "pace";
  page.legend.hidden = !pace;
  if (!pace) return;
  const fills = pacesOf(document.documentElement.dataset.mantineColorScheme === "dark" ? "dark" : "light");
  page.legend.replaceChildren(...[0, 2, 4].map((at) => {
    const swatch = make("span", "ms-timeline-swatch");
    swatch.style.background = fills[at];
    return make("span", "ms-timeline-key", [swatch, words(`timeline.pace.${at}`)]);
  }));
}

// Registered once; pageOf finds such a page on screen.
const pageOf = profiling.define("timeline", { fields, build, draw });

// Keys ---------------------------------------------------------------------------------------------------------------

/** @param {Timeline.Page} page */
function mark(page) {
  const { line } = page;
  const time = Math.round(line.pointer ? timeAt(line, line.pointer.x) : (line.range.from + line.range.to) / 2);
  const marks = line.marks.length >= 2 ? [] : line.marks;
  page.change({ mark: [...marks, time].map(String), called: [] });
}

/** @param {Timeline.Page} page */
function escape(page) {
  const { state } = page;
  if (page.menu) closeMenu(page);
  else if ((state.slice || []).length || (state.range || []).length || !page.panel.host.hidden) finding.closePanel(page);
  else if ((state.mark || []).length) page.change({ mark: [], called: [] });
  else return false;
  return true;
}

/** @type {Record<string, (page: Timeline.Page) => void>} */
const KEYS = {
  /** @param {Timeline.Page} page */
  w: (page) => lines.zoom(page.line, ZOOM, page.line.pointer ? page.line.pointer.x : undefined),
  /** @param {Timeline.Page} page */
  s: (page) => lines.zoom(page.line, 1 / ZOOM, page.line.pointer ? page.line.pointer.x : undefined),
  /** @param {Timeline.Page} page */
  a: (page) => lines.pan(page.line, -PAN * page.line.width),
  /** @param {Timeline.Page} page */
  d: (page) => lines.pan(page.line, PAN * page.line.width),
  /** @param {Timeline.Page} page */
  ArrowLeft: (page) => lines.pan(page.line, -PAN * page.line.width),
  /** @param {Timeline.Page} page */
  ArrowRight: (page) => lines.pan(page.line, PAN * page.line.width),
  /** @param {Timeline.Page} page */
  ArrowUp: (page) => lines.scrollBy(page.line, -SCROLL),
  /** @param {Timeline.Page} page */
  ArrowDown: (page) => lines.scrollBy(page.line, SCROLL),
  /** @param {Timeline.Page} page */
  0: (page) => lines.show(page.line, camera.whole(page.line.facts)),
  /** @param {Timeline.Page} page */
  f: (page) => finding.zoomToChosen(page),
  m: mark,
  /** @param {Timeline.Page} page */
  n: (page) => finding.nextHit(page, 1),
  /** @param {Timeline.Page} page */
  N: (page) => finding.nextHit(page, -1),
  /** @param {Timeline.Page} page */
  ",": (page) => finding.chooseSame(page, -1),
  /** @param {Timeline.Page} page */
  ".": (page) => finding.chooseSame(page, 1),
};

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  if (document.querySelector("dialog[open]")) return;
  const target = event.target instanceof Element ? event.target : null;
  const root = document.querySelector(".ms-shell .ms-timeline") || (target && target.closest(".ms-timeline"));
  const page = root && pageOf(root.id);
  if (!page || !page.line || (target && takesText(target))) return;
  if (event.key === "Escape") {
    if (escape(page)) event.preventDefault();
    return;
  }
  if (event.key === "Backspace") lines.travel(page.line, event.shiftKey ? 1 : -1);
  else if (KEYS[event.key]) {
    // Arrows move within lists and tables that have the focus.
    if (event.key.startsWith("Arrow") && target && target.closest(".ms-timeline-panel, .ms-menu, summary")) return;
    KEYS[event.key](page);
  } else return;
  event.preventDefault();
});

/** @param {Timeline.Page} page */
function draw(page) {
  if (page.asked) open(page, page.asked);
  if (page.parts.length) drawParts(page);
  apply(page);
}

Object.assign(functionsOf("mindscope_timeline"), {
  /**
   * @param {Wire.Query | null} ask
   * @param {string} rootId
   */
  opened(ask, rootId) {
    const page = pageOf(rootId);
    if (page && ask) open(page, ask);
  },
});
