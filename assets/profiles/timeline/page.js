// The timeline: controls, state, keys. Counterpart of layouts/profiles/timeline. line.js draws, finding.js tells of slices.

import { setDescription } from "../../kit/alternatives.js";
import { functionsOf } from "../../kit/dash.js";
import {
  fillSelect, icon, iconButton, make, menu, pressSegment, segments, select, takesText, words,
} from "../../kit/elements.js";
import { count, percent } from "../../kit/units.js";
import { setLabel, translate, writeText } from "../../kit/i18n.js";
import { last, same } from "../../kit/state.js";
import * as profiling from "../profiles.js";
import * as camera from "./camera.js";
import { pacesOf } from "./colours.js";
import * as finding from "./finding.js";
import { timeAt } from "./geometry.js";
import { listen } from "./input.js";
import { titleOf } from "./labels.js";
import * as lines from "./line.js";
import { goToFirst } from "./links.js";
import { closeMenu, fold, openMenu } from "./menus.js";
import { buildMarks, drawMarkList, takeMarks } from "./marks.js";
import { makePanel } from "./panel.js";
import { drawParts, makePartsMenu, namesOf, queryOf } from "./parts.js";
import { saveDrawing, savePicture } from "./picture.js";
import { Names, Server } from "./server.js";
import { listenToStrip, loadStrip } from "./strip.js";
import { treeOf } from "./tracks.js";

const COLOURS = ["name", "category", "kind", "pace"];
const HEIGHTS = ["small", "medium", "large"];
const ZOOM = 0.7;
const PAN = 0.15;
const SCROLL = 60;
const TYPED_MS = 300;
const MOST_STEPS = 2000;
const POLL_MS = 400;

const get = (page, key, fallback = "") => last(page.state, key, fallback);

// The page -----------------------------------------------------------------------------------------------------------

function build(page) {
  page.slices = new Map();
  page.opened = 0;
  buildTools(page);
  buildBox(page);
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

function buildTools(page) {
  const act = (name, label, run) => {
    const button = iconButton(name, label, label);
    button.addEventListener("click", () => page.line && run(page.line));
    return button;
  };
  page.backButton = act("left", "timeline.back", (line) => lines.travel(line, -1));
  page.forwardButton = act("right", "timeline.forward", (line) => lines.travel(line, 1));
  const zooms = make("span", "ms-timeline-group", [
    act("plus", "timeline.in", (line) => lines.zoom(line, ZOOM)),
    act("minus", "timeline.out", (line) => lines.zoom(line, 1 / ZOOM)),
    act("restore", "timeline.whole", (line) => lines.show(line, camera.whole(line.facts))), page.backButton, page.forwardButton,
  ]);
  page.stepSelect = select("timeline.step", (at) => finding.zoomToStep(page, Number(at)));
  page.stepSelect.hidden = true;
  page.zeroSelect = select("timeline.zero", (zero) => page.change({ zero: zero === "trace" ? [] : [zero] }));
  page.colourSelect = select("timeline.colour", (colour) => page.change({ colour: colour === "name" ? [] : [colour] }));
  page.heights = segments("timeline.height", HEIGHTS.map((one) => [one, `timeline.height.${one}`]),
    (height) => page.change({ height: height === "medium" ? [] : [height] }));
  page.legend = make("span", "ms-timeline-legend");
  page.search = make("input", "ms-input ms-filter ms-timeline-search", [], { type: "search", spellcheck: "false" });
  for (const name of ["placeholder", "aria-label"]) setLabel(page.search, name, "timeline.search");
  page.search.addEventListener("input", () => later(page, "search", () => page.change({ q: entered(page.search) })));
  page.search.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && page.line && page.line.hits) finding.nextHit(page, event.shiftKey ? -1 : 1);
  });
  page.regex = make("button", "ms-button ms-timeline-regex", ".*", { type: "button", "aria-pressed": "false" });
  for (const name of ["title", "aria-label"]) setLabel(page.regex, name, "timeline.regex");
  page.regex.addEventListener("click", () => page.change({ regex: get(page, "regex") === "1" ? [] : ["1"] }));
  page.shortest = make("input", "ms-input ms-timeline-shortest", [], { type: "number", min: "0", step: "any" });
  setLabel(page.shortest, "aria-label", "timeline.shortest");
  page.shortest.addEventListener("change", () => page.change({ shortest: entered(page.shortest) }));
  page.previousHit = act("up", "timeline.previous_hit", () => finding.nextHit(page, -1));
  page.nextHit = act("down", "timeline.next_hit", () => finding.nextHit(page, 1));
  page.hitCount = make("span", "ms-muted ms-timeline-hits");
  page.hitTools = make("span", "ms-timeline-group ms-timeline-found", [page.hitCount, page.previousHit, page.nextHit]);
  const png = make("button", "ms-menu-item", words("timeline.png"), { type: "button" });
  png.addEventListener("click", () => savePicture(page));
  const svg = make("button", "ms-menu-item", words("timeline.svg"), { type: "button" });
  svg.addEventListener("click", () => page.line && saveDrawing(page));
  page.traceLink = make("a", "ms-menu-item", words("timeline.trace_json"), { download: "" });
  const files = make("summary", "ms-button ms-button-icon", icon("download"));
  for (const name of ["title", "aria-label"]) setLabel(files, name, "timeline.files");
  const display = menu(make("summary", "ms-button", [words("timeline.display"), icon("down")]), [
    words("timeline.colour"), page.colourSelect, words("timeline.height"), page.heights,
    words("timeline.zero"), page.zeroSelect, words("timeline.shortest"), page.shortest,
  ]);
  display.classList.add("ms-timeline-display");
  const find = make("span", "ms-timeline-find", [page.search, page.regex]);
  page.searchedIn = make("button", "ms-button ms-button-small ms-timeline-in", [], { type: "button", hidden: "" });
  page.searchedIn.addEventListener("click", () => page.change({ in: [] }));
  page.tools.replaceChildren(
    makePartsMenu(page), zooms, page.stepSelect, display, buildMarks(page),
    make("span", "ms-timeline-tools-gap"), page.searchedIn, find, page.hitTools,
    menu(files, [page.traceLink, png, svg]));
}

function buildBox(page) {
  const box = page.find(".ms-timeline-box");
  const part = (name, children = [], attributes = {}) => make("div", `ms-timeline-${name}`, children, attributes);
  const host = { root: box };
  host.stripName = make("span", "ms-timeline-strip-name");
  host.strip = make("canvas", "ms-timeline-strip", [], { "aria-hidden": "true" });
  host.base = make("span", "ms-timeline-base");
  host.ruler = make("canvas", "ms-timeline-ruler", [], { "aria-hidden": "true" });
  page.filter = make("input", "ms-input ms-timeline-filter", [], { type: "search", spellcheck: "false" });
  for (const name of ["placeholder", "aria-label"]) setLabel(page.filter, name, "timeline.filter");
  page.filter.addEventListener("input", () => later(page, "filter", () => page.change({ filter: entered(page.filter) })));
  page.hiddenButton = make("button", "ms-button ms-timeline-hidden", [], { type: "button" });
  page.hiddenButton.hidden = true;
  page.hiddenButton.addEventListener("click", () => page.change({ hide: [] }));
  host.labels = part("labels");
  host.pinnedLabels = part("labels ms-timeline-labels-pinned");
  host.canvas = make("canvas", "ms-timeline-canvas");
  host.overlay = make("canvas", "ms-timeline-overlay");
  host.canvasHost = part("canvas-host", [host.canvas, host.overlay], { tabindex: "0", role: "application" });
  setLabel(host.canvasHost, "aria-label", "timeline.canvas");
  host.sizer = part("sizer");
  host.view = part("view", [part("label-host", [host.labels, host.pinnedLabels]), host.canvasHost]);
  host.scroll = part("scroll", [host.view, host.sizer]);
  host.empty = make("p", "ms-timeline-empty ms-muted");
  host.tip = part("tip", [], { hidden: "", role: "status" });
  const panelHost = part("panel", [], { hidden: "" });
  page.hints = words("timeline.keys", {}, "span", "ms-cut");
  page.about = make("span", "ms-timeline-about-trace ms-cut");
  page.progress = make("span", "ms-timeline-progress", [], { hidden: "", role: "status" });
  box.replaceChildren(
    part("top", [part("corner", host.stripName), part("strip-host", host.strip)]),
    part("axis", [part("corner", [page.filter, page.hiddenButton, host.base]), part("ruler-host", host.ruler)]),
    part("body", [host.scroll, host.empty, host.tip]), panelHost,
    part("foot", [page.hints, page.progress, page.legend, page.about]));
  page.host = host;
  page.panel = makePanel(panelHost, {
    close: () => finding.closePanel(page), tab: (name) => finding.openTab(page, name),
    go: (row) => finding.choose(page, row, true), same: (by) => finding.chooseSame(page, by),
    zoomSlice: () => finding.zoomToChosen(page), zoomRange: () => finding.zoomToChosen(page, "range"),
    clearRange: () => page.change({ range: [] }), hit: (place) => finding.goToHit(page, place),
    setBy: (by) => page.change({ by: by === "name" ? [] : [by] }),
    setStream: (track) => page.change({ stream: [page.line.ids[Number(track)]] }),
    setPart: (key, part) => page.change({ [key]: [part] }),
    showTime: (from, length) => lines.show(page.line, camera.around(from, length)),
    setClip: (clip) => page.change({ clip: clip === "1" ? [] : [clip] }),
    searchFor: (name) => page.change({ q: [name], regex: [] }),
  });
  host.scroll.addEventListener("scroll", () => closeMenu(page));
}

// The text of a field as the state has it.
const entered = (field) => (field.value ? [field.value] : []);

function later(page, name, act) {
  page.timers = page.timers || {};
  window.clearTimeout(page.timers[name]);
  page.timers[name] = window.setTimeout(act, TYPED_MS);
}

// Opening a trace ----------------------------------------------------------------------------------------------------

async function open(page, ask) {
  page.asked = ask;
  const query = queryOf(page, ask);
  const mark = JSON.stringify([query, ask.mark]);
  if (page.traceOf === mark) return;
  page.traceOf = mark;
  const turn = (page.opened += 1);
  const server = new Server(page.root.dataset.routes, query);
  const own = JSON.stringify([ask.run, ask.session, ask.rank, ask.mark, page.state.source || []]);
  // When others join the page's own trace, it stays on screen until they have been read.
  if (page.own !== own || !page.line) {
    if (page.line) lines.close(page.line);
    page.line = null;
    buildBox(page);
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
    writeText(element, "timeline.failed", { text: error.message });
    drawParts(page);
    return;
  }
  if (turn !== page.opened) return;
  const before = page.line && { facts: page.line.facts, range: page.line.range, scroll: page.host.scroll.scrollTop };
  if (page.line) lines.close(page.line);
  page.slices.clear();
  buildBox(page);
  page.host.empty.hidden = true;
  begin(page, server, facts, before);
  watch(page, server, turn);
}

// Wait until all traces have been read; false if something else has been asked for meanwhile.
async function whenRead(page, server, turn) {
  for (;;) {
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

const progress = ({ done, total }) => percent(total ? Math.min(done, total) / total : 0);

// Until the summary of every trace is there, say how far it is; then draw what waited for it.
async function watch(page, server, turn) {
  try {
    while (turn === page.opened && !page.known.every((one) => one.complete)) {
      const [one] = page.known.filter(({ complete }) => !complete);
      page.progress.hidden = false;
      const hatched = page.line.view && page.line.view.pending.size;
      writeText(page.progress, hatched ? "timeline.summing_hatched" : "timeline.summing", { share: progress(one) });
      await new Promise((done) => { window.setTimeout(done, POLL_MS); });
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

// What the address has of times, when the start of the axis has been moved by `by` ns.
function movedTimes(page, by) {
  const pairs = (texts) => (texts || []).map(camera.parseRange).filter(Boolean)
    .map((range) => camera.formatRange(camera.moved(range, by)));
  return {
    span: pairs(page.state.span), range: pairs(page.state.range),
    mark: (page.state.mark || []).map(Number).filter(Number.isFinite).map((time) => String(time + by)),
  };
}

function begin(page, server, facts, before) {
  const parts = page.parts.length > 1 ? namesOf(page) : [""];
  facts.parts.forEach((part, at) => { part.name = parts[at]; });
  for (const track of facts.tracks) track.where = parts[track.part];
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
    choose: (place, event) => finding.clicked(page, place, event),
    range: (range) => page.change({ range: [camera.formatRange(range)], tab: [] }),
    hover: (place, x, y) => finding.hover(page, place, x, y), twice: (place) => finding.twice(page, place),
    step: (time, ranged) => finding.stepAt(page, time, ranged),
  });
  listenToStrip(line, lines.show);
  const nameOf = (label, at) => translate("timeline.step_n", { n: label || at + 1 });
  const steps = facts.steps.slice(0, MOST_STEPS).map(([label], at) => [String(at), nameOf(label, at)]);
  fillSelect(page.stepSelect, [["", translate("timeline.no_step")], ...steps], "");
  page.stepSelect.hidden = !facts.steps.length;
  page.zeroSelect.disabled = !facts.steps.length;
  page.host.empty.hidden = facts.slices > 0 || facts.tracks.length > 0;
  writeText(page.host.empty, "timeline.no_slices");
  const files = facts.parts.map((part) => part.file);
  if (files.length > 1) writeText(page.about, "timeline.about_many", { files: files.length, n: count(facts.slices) });
  else writeText(page.about, "timeline.about", { file: files[0].split(/[\\/]/).pop(), n: count(facts.slices) });
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

function saveRange(page, range) {
  page.backButton.disabled = !page.line.way.back;
  page.forwardButton.disabled = !page.line.way.forward;
  const everything = camera.whole(page.line.facts);
  const all = Math.abs(range.from - everything.from) < 1 && Math.abs(range.to - everything.to) < 1;
  page.savedSpan = all ? "" : camera.formatRange(range);
  page.change({ span: all ? [] : [page.savedSpan] });
}

// State --------------------------------------------------------------------------------------------------------------

function lookOf(page) {
  const list = (key) => page.state[key] || [];
  return {
    folded: new Set(list("fold")), opened: new Set(list("open")), hidden: new Set(list("hide")), pinned: list("pin"),
    order: list("order"), filter: get(page, "filter").trim(),
    height: HEIGHTS.includes(get(page, "height")) ? get(page, "height") : "medium",
    heights: new Map(list("tall").map((entry) => entry.split(":")).filter(([, height]) => HEIGHTS.includes(height))),
    colour: COLOURS.includes(get(page, "colour")) ? get(page, "colour") : "name",
  };
}

// Bring what is on screen in step with the state.
function apply(page) {
  const { line, state } = page;
  if (!line) return;
  const first = page.applied === null;
  const before = page.applied || {};
  page.applied = state;
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
  if (first || changed("range", "by", "clip", "stream", "part", "other", "hide", "filter")) {
    finding.chooseRange(page, camera.parseRange(get(page, "range")));
  }
  if (first || changed("slice")) finding.loadSlice(page, get(page, "slice"), first);
  if (first || changed("q", "regex", "shortest", "in")) finding.search(page);
  if (changed("tab") || first) finding.drawPanel(page);
  if (first || changed("first")) goToFirst(page);
  page.traceLink.href = line.server.url("trace.json", camera.parseRange(get(page, "range")) || {});
  lines.redraw(line);
}

// In which tracks is searched, if not in all.
function drawSearchedIn(page) {
  const { line, state } = page;
  const ids = new Set(state.in || []);
  const named = line.tree.flatMap((process) => [
    ...(ids.has(process.id) ? [process.name || process.tracks[0].process_id] : []),
    ...process.tracks.filter((track) => ids.has(track.id)).map(titleOf),
  ]);
  page.searchedIn.hidden = !named.length;
  if (!named.length) return;
  const key = named.length > 1 ? "timeline.in_tracks" : "timeline.in_track";
  page.searchedIn.replaceChildren(words(key, { name: named[0], n: count(named.length) }, "span", "ms-cut"), icon("close"));
  page.searchedIn.title = named.join("\n");
}

function setZero(page) {
  const { line } = page;
  line.zero = 0;
  if (get(page, "zero") !== "step") return;
  const middle = (line.range.from + line.range.to) / 2;
  const step = line.facts.steps.findLast(([, start]) => start <= middle) || line.facts.steps[0];
  if (step) line.zero = step[1];
}

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

// Keys ---------------------------------------------------------------------------------------------------------------

function mark(page) {
  const { line } = page;
  const time = Math.round(line.pointer ? timeAt(line, line.pointer.x) : (line.range.from + line.range.to) / 2);
  const marks = line.marks.length >= 2 ? [] : line.marks;
  page.change({ mark: [...marks, time].map(String), called: [] });
}

function escape(page) {
  const { state } = page;
  if (page.menu) closeMenu(page);
  else if ((state.slice || []).length || (state.range || []).length || !page.panel.host.hidden) finding.closePanel(page);
  else if ((state.mark || []).length) page.change({ mark: [], called: [] });
  else return false;
  return true;
}

const KEYS = {
  w: (page) => lines.zoom(page.line, ZOOM, page.line.pointer ? page.line.pointer.x : undefined),
  s: (page) => lines.zoom(page.line, 1 / ZOOM, page.line.pointer ? page.line.pointer.x : undefined),
  a: (page) => lines.pan(page.line, -PAN * page.line.width),
  d: (page) => lines.pan(page.line, PAN * page.line.width),
  ArrowLeft: (page) => lines.pan(page.line, -PAN * page.line.width),
  ArrowRight: (page) => lines.pan(page.line, PAN * page.line.width),
  ArrowUp: (page) => lines.scrollBy(page.line, -SCROLL),
  ArrowDown: (page) => lines.scrollBy(page.line, SCROLL),
  0: (page) => lines.show(page.line, camera.whole(page.line.facts)),
  f: (page) => finding.zoomToChosen(page),
  m: mark,
  n: (page) => finding.nextHit(page, 1),
  N: (page) => finding.nextHit(page, -1),
  ",": (page) => finding.chooseSame(page, -1),
  ".": (page) => finding.chooseSame(page, 1),
};

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  if (document.querySelector("dialog[open]")) return;
  const target = event.target instanceof Element ? event.target : null;
  const root = document.querySelector(".ms-shell .ms-timeline") || (target && target.closest(".ms-timeline"));
  const page = root && profiling.pageOf(root.id);
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

function draw(page) {
  if (page.asked) open(page, page.asked);
  if (page.parts) drawParts(page);
  apply(page);
}

profiling.define("timeline", { build, draw });

Object.assign(functionsOf("mindscope_timeline"), {
  /**
   * @param {Wire.Query | null} ask
   * @param {string} rootId
   */
  opened(ask, rootId) {
    const page = profiling.pageOf(rootId);
    if (page && ask) open(page, ask);
  },
});
