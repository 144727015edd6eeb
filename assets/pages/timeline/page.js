// The timeline: controls, state, keys. Counterpart of layouts/pages/timeline. line.js draws, panel.js tells of what is selected.

import { functionsOf } from "../../base/dash.js";
import { fillSelect, icon, iconButton, make, menu, pressSegment, segments, select, takesText, words } from "../../base/elements.js";
import { count } from "../../base/format.js";
import { setLabel, translate, writeText } from "../../base/i18n.js";
import { last, same } from "../../base/state.js";
import * as profiling from "../../profiling/profiling.js";
import * as camera from "./camera.js";
import { duration, exactTime } from "./axis.js";
import { pacesOf } from "./colours.js";
import { timeAt } from "./geometry.js";
import { listen } from "./input.js";
import * as lines from "./line.js";
import { makePanel, showHint, showHits, showRange, showSlice, trackTitle } from "./panel.js";
import { Names, Server } from "./server.js";
import { listenToStrip, loadStrip } from "./strip.js";
import { movedIn, ordered, treeOf } from "./tracks.js";

const COLOURS = ["name", "category", "kind", "pace"];
const HEIGHTS = ["small", "medium", "large"];
const ZOOM = 0.7;
const PAN = 0.15;
const SCROLL = 60;
const TYPED_MS = 300;
const KNOWN_SLICES = 2000;

const get = (page, key, fallback = "") => last(page.state, key, fallback);

// The page -----------------------------------------------------------------------------------------------------------

function build(page) {
  page.slices = new Map();
  page.opened = 0;
  buildTools(page);
  buildBox(page);
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
    act("plus", "timeline.in", (line) => lines.zoom(line, ZOOM)), act("minus", "timeline.out", (line) => lines.zoom(line, 1 / ZOOM)),
    act("restore", "timeline.whole", (line) => lines.show(line, camera.whole(line.facts))), page.backButton, page.forwardButton,
  ]);
  page.stepSelect = select("timeline.step", (at) => zoomToStep(page, Number(at)));
  page.zeroSelect = select("timeline.zero", (zero) => page.change({ zero: zero === "trace" ? [] : [zero] }));
  page.colourSelect = select("timeline.colour", (colour) => page.change({ colour: colour === "name" ? [] : [colour] }));
  page.heights = segments("timeline.height", HEIGHTS.map((one) => [one, `timeline.height.${one}`]),
    (height) => page.change({ height: height === "medium" ? [] : [height] }));
  page.legend = make("span", "ms-timeline-legend");
  page.search = make("input", "ms-input ms-filter ms-timeline-search", [], { type: "search", spellcheck: "false" });
  for (const name of ["placeholder", "aria-label"]) setLabel(page.search, name, "timeline.search");
  page.search.addEventListener("input", () => later(page, "search", () => page.change({ q: page.search.value ? [page.search.value] : [], hit: [] })));
  page.search.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && page.line && page.line.hits) nextHit(page, event.shiftKey ? -1 : 1);
  });
  page.regex = make("button", "ms-button ms-timeline-regex", ".*", { type: "button", "aria-pressed": "false" });
  for (const name of ["title", "aria-label"]) setLabel(page.regex, name, "timeline.regex");
  page.regex.addEventListener("click", () => page.change({ regex: get(page, "regex") === "1" ? [] : ["1"] }));
  page.shortest = make("input", "ms-input ms-timeline-shortest", [], { type: "number", min: "0", step: "any" });
  setLabel(page.shortest, "aria-label", "timeline.shortest");
  page.shortest.addEventListener("change", () => page.change({ shortest: page.shortest.value ? [page.shortest.value] : [] }));
  page.previousHit = act("up", "timeline.previous_hit", () => nextHit(page, -1));
  page.nextHit = act("down", "timeline.next_hit", () => nextHit(page, 1));
  page.hitCount = make("span", "ms-muted ms-timeline-hits");
  page.hitTools = make("span", "ms-timeline-group ms-timeline-found", [page.hitCount, page.previousHit, page.nextHit]);
  const png = make("button", "ms-menu-item", words("timeline.png"), { type: "button" });
  png.addEventListener("click", () => savePicture(page));
  page.traceLink = make("a", "ms-menu-item", words("timeline.trace_json"), { download: "" });
  const files = make("summary", "ms-button ms-button-icon", icon("download"));
  for (const name of ["title", "aria-label"]) setLabel(files, name, "timeline.files");
  const display = menu(make("summary", "ms-button", [words("timeline.display"), icon("down")]), [
    words("timeline.height"), page.heights, words("timeline.zero"), page.zeroSelect, words("timeline.shortest"), page.shortest,
  ]);
  display.classList.add("ms-timeline-display");
  const find = make("span", "ms-timeline-find", [page.search, page.regex]);
  page.tools.replaceChildren(
    zooms, page.stepSelect, page.colourSelect, display, page.legend, make("span", "ms-timeline-tools-gap"), find, page.hitTools,
    menu(files, [page.traceLink, png]));
}

function buildBox(page) {
  const box = page.find(".ms-timeline-box");
  const part = (name, children = [], attributes = {}) => make("div", `ms-timeline-${name}`, children, attributes);
  const host = { root: box };
  host.stripName = make("span", "ms-timeline-strip-name");
  host.strip = make("canvas", "ms-timeline-strip");
  host.base = make("span", "ms-timeline-base");
  host.ruler = make("canvas", "ms-timeline-ruler");
  page.filter = make("input", "ms-input ms-timeline-filter", [], { type: "search", spellcheck: "false" });
  for (const name of ["placeholder", "aria-label"]) setLabel(page.filter, name, "timeline.filter");
  page.filter.addEventListener("input", () => later(page, "filter", () => page.change({ filter: page.filter.value ? [page.filter.value] : [] })));
  page.hiddenButton = make("button", "ms-button ms-timeline-hidden", [], { type: "button" });
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
  box.replaceChildren(
    part("top", [part("corner", host.stripName), part("strip-host", host.strip)]),
    part("axis", [part("corner", [page.filter, page.hiddenButton, host.base]), part("ruler-host", host.ruler)]),
    part("body", [host.scroll, host.empty, host.tip]), panelHost, part("foot", [page.hints, page.about]));
  page.host = host;
  page.panel = makePanel(panelHost, {
    close: () => closePanel(page), tab: (name) => openTab(page, name), go: (row) => choose(page, row, true),
    zoomSlice: () => zoomToChosen(page), same: (by) => chooseSame(page, by), zoomRange: () => zoomToChosen(page, "range"),
    clearRange: () => page.change({ range: [] }), hit: (place) => goToHit(page, place),
    setRange: ({ by, clip }) => page.change({ ...(by ? { by: by === "name" ? [] : [by] } : {}), ...(clip ? { clip: clip === "1" ? [] : [clip] } : {}) }),
    searchFor: (name) => page.change({ q: [name], regex: [], hit: [] }),
  });
  box.addEventListener("click", (event) => {
    const button = event.target instanceof Element && event.target.closest("[data-act][data-id]");
    if (!button || !page.line) return;
    if (button.dataset.act === "fold") fold(page, button.dataset.id);
    if (button.dataset.act === "menu") openMenu(page, button);
  });
  host.scroll.addEventListener("scroll", () => closeMenu(page));
  new ResizeObserver(() => page.line && lines.redraw(page.line)).observe(box);
  window.addEventListener("mindscope:prefs", () => page.line && lines.refresh(page.line));
}

function later(page, name, act) {
  page.timers = page.timers || {};
  window.clearTimeout(page.timers[name]);
  page.timers[name] = window.setTimeout(act, TYPED_MS);
}

// Opening a trace ----------------------------------------------------------------------------------------------------

async function open(page, ask) {
  const query = { run: ask.run[0], session: ask.session[0], rank: ask.rank[0] };
  const mark = JSON.stringify([query, ask.mark]);
  if (page.traceOf === mark) return;
  page.traceOf = mark;
  if (page.line) lines.close(page.line);
  page.line = null;
  page.slices.clear();
  for (const label of page.host.root.querySelectorAll(".ms-timeline-label")) label.remove();
  const turn = (page.opened += 1);
  const server = new Server(page.root.dataset.routes, query);
  writeText(page.host.empty, "timeline.loading");
  page.host.empty.hidden = false;
  let facts;
  try {
    facts = await server.json("tracks");
  } catch (error) {
    writeText(page.host.empty, "timeline.failed", { text: error.message });
    page.traceOf = null;
    return;
  }
  if (turn !== page.opened) return;
  begin(page, server, facts);
}

function begin(page, server, facts) {
  const names = new Names(facts.names, (from, to) => server.json("names", { from, to }), () => {
    lines.refresh(line);
    if (page.panel.shown === "search") drawHits(page);
  });
  const line = lines.makeLine(server, facts, treeOf(facts.tracks), names, page.host, (range) => saveRange(page, range));
  page.line = line;
  line.words = { step: translate("timeline.step_n", { n: "" }).trim() };
  page.host.root.classList.toggle("ms-timeline-stepped", facts.steps.length > 0);
  if (!page.listening) {
    page.listening = true;
    // The listeners of the elements are added once and work on the trace that is open.
    const current = new Proxy({}, { get: (_none, key) => page.line[key], set: (_none, key, value) => { page.line[key] = value; return true; } });
    listen(current, {
      choose: (place, event) => clicked(page, place, event), range: (range) => page.change({ range: [camera.formatRange(range)], tab: [] }),
      hover: (place, x, y) => hover(page, place, x, y), twice: (place, time) => twice(page, place, time),
    });
    listenToStrip(current, lines.show);
  }
  fillSelect(page.stepSelect, [["", translate("timeline.no_step")],
    ...facts.steps.map(([label], at) => [String(at), translate("timeline.step_n", { n: label || at + 1 })])].slice(0, 2001), "");
  page.stepSelect.hidden = !facts.steps.length;
  page.zeroSelect.disabled = !facts.steps.length;
  page.host.empty.hidden = facts.slices > 0 || facts.tracks.length > 0;
  writeText(page.host.empty, "timeline.no_slices");
  page.about.textContent = `${facts.file.split(/[\\/]/).pop()} · ${count(facts.slices)}`;
  page.about.title = facts.file;
  const range = camera.parseRange(get(page, "span"));
  if (range) line.range = camera.within(range, facts.end);
  line.way.add(line.range);
  page.applied = null;
  apply(page);
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
    if (!shown) writeText(page.host.empty, line.look.filter ? "timeline.none_fit" : line.facts.tracks.length ? "timeline.none_left" : "timeline.no_slices");
    page.hiddenButton.hidden = !line.layout.hidden;
    writeText(page.hiddenButton, "timeline.hidden", { n: count(line.layout.hidden) });
  }
  fillSelect(page.colourSelect, COLOURS.map((one) => [one, translate(`timeline.colour.${one}`)]), line.look.colour);
  pressSegment(page.heights, line.look.height);
  fillSelect(page.zeroSelect, ["trace", "step"].map((one) => [one, translate(`timeline.zero.${one}`)]), get(page, "zero", "trace"));
  drawLegend(page);
  if (document.activeElement !== page.search) page.search.value = get(page, "q");
  if (document.activeElement !== page.filter) page.filter.value = get(page, "filter");
  if (document.activeElement !== page.shortest) page.shortest.value = get(page, "shortest");
  page.regex.setAttribute("aria-pressed", String(get(page, "regex") === "1"));
  line.marks = (state.mark || []).map(Number).filter(Number.isFinite).slice(0, 2);
  setZero(page);
  if (changed("span") && get(page, "span") !== page.savedSpan && !first) {
    const range = camera.parseRange(get(page, "span")) || camera.whole(line.facts);
    line.range = camera.within(range, line.facts.end);
    page.savedSpan = get(page, "span");
    line.way.add(line.range);
  }
  if (first) page.savedSpan = get(page, "span");
  page.backButton.disabled = !line.way.back;
  page.forwardButton.disabled = !line.way.forward;
  if (first || changed("range", "by", "clip", "pin", "hide", "filter")) chooseRange(page, camera.parseRange(get(page, "range")));
  if (first || changed("slice")) loadSlice(page, get(page, "slice"), first && !get(page, "span"));
  if (first || changed("q", "regex", "shortest")) search(page);
  if (changed("tab") || first) drawPanel(page);
  page.traceLink.href = line.server.url("trace.json", camera.parseRange(get(page, "range")) || {});
  lines.redraw(line);
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

// Tracks -------------------------------------------------------------------------------------------------------------

function rowOf(page, id) {
  return page.line.places.get(id);
}

function without(list, id) {
  return (list || []).filter((one) => one !== id);
}

function fold(page, id) {
  const row = rowOf(page, id);
  if (!row) return;
  const { state } = page;
  page.change(row.folded
    ? { fold: without(state.fold, id), open: [...without(state.open, id), id] }
    : { fold: [...without(state.fold, id), id], open: without(state.open, id) });
}

function closeMenu(page) {
  if (page.menu) page.menu.remove();
  page.menu = null;
}

function openMenu(page, button) {
  const { id } = button.dataset;
  const again = page.menu && page.menu.dataset.id === id;
  closeMenu(page);
  if (again) return;
  const row = rowOf(page, id);
  const process = row.kind === "process";
  const { state, line } = page;
  const siblings = process ? line.tree : line.tree.find((one) => one.tracks.some((track) => track.id === id)).tracks;
  const item = (key, run, disabled = false) => {
    const element = make("button", "ms-menu-item", words(key), { type: "button", role: "menuitem" });
    element.disabled = disabled;
    element.addEventListener("click", () => { closeMenu(page); run(); });
    return element;
  };
  const now = ordered(siblings, state.order || []).map((one) => one.id);
  const move = (by) => page.change({ order: movedIn(siblings, state.order || [], id, by) });
  const pinned = (state.pin || []).includes(id);
  const items = [item("timeline.hide", () => page.change({ hide: [...without(state.hide, id), id], pin: without(state.pin, id) }))];
  if (!process) {
    items.unshift(item(pinned ? "timeline.unpin" : "timeline.pin",
      () => page.change({ pin: pinned ? without(state.pin, id) : [...(state.pin || []), id] })));
    const height = line.look.heights.get(id) || line.look.height;
    const size = (by) => {
      const next = HEIGHTS[HEIGHTS.indexOf(height) + by];
      page.change({ tall: [...(state.tall || []).filter((entry) => !entry.startsWith(`${id}:`)), `${id}:${next}`] });
    };
    if (!row.curve) {
      items.push(item("timeline.taller", () => size(1), height === "large"), item("timeline.lower", () => size(-1), height === "small"));
    }
  }
  items.push(item("timeline.only", () => page.change({ hide: line.tree.flatMap((one) => (process
    ? (one.id === id ? [] : [one.id])
    : one.tracks.some((track) => track.id === id) ? one.tracks.map((track) => track.id).filter((other) => other !== id) : [one.id])) })));
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
    if (event.key === "Escape") { closeMenu(page); button.focus(); } else if (event.key === "ArrowDown") items[(at + 1) % items.length].focus();
    else if (event.key === "ArrowUp") items[(at + items.length - 1) % items.length].focus();
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
}

document.addEventListener("pointerdown", (event) => {
  for (const menuElement of document.querySelectorAll(".ms-timeline-menu")) {
    if (!menuElement.contains(event.target) && !(event.target instanceof Element && event.target.closest('[data-act="menu"]'))) menuElement.remove();
  }
});

// A slice ------------------------------------------------------------------------------------------------------------

// The row a place stands for: the slice, or the longest of those in a pixel.
function rowUnder(page, place) {
  if (!place || !place.found) return null;
  const { view } = page.line;
  return place.found.slice !== undefined ? view.slices.row[place.found.slice] : view.buckets.row[place.found.bucket];
}

function clicked(page, place, event) {
  const row = rowUnder(page, place);
  closeMenu(page);
  if (row !== null) choose(page, row, false);
  else if (place && place.row.kind === "process") fold(page, place.row.id);
  else if (!event.shiftKey) page.change({ slice: [] });
}

function choose(page, row, moving) {
  page.moving = moving;
  page.change({ slice: [String(row)], tab: [] });
}

async function fetchSlice(page, row, brief) {
  const key = `${row} ${brief}`;
  const known = page.slices.get(key);
  if (known) return known;
  const asked = page.line.server.json("slice", { row, brief: brief ? 1 : "" });
  if (page.slices.size > KNOWN_SLICES) page.slices.clear();
  page.slices.set(key, asked);
  asked.catch(() => page.slices.delete(key));
  return asked;
}

async function loadSlice(page, text, moving) {
  const { line } = page;
  if (!/^\d+$/.test(text) || Number(text) >= line.facts.slices) {
    line.selected = null;
    if (page.panel.shown === "slice") drawPanel(page);
    return;
  }
  const go = page.moving || moving;
  page.moving = false;
  try {
    const slice = await fetchSlice(page, Number(text), false);
    if (page.line !== line || get(page, "slice") !== text) return;
    line.selected = slice;
    if (go) lines.reveal(line, slice);
  } catch {
    line.selected = null;
  }
  drawPanel(page, "slice");
  lines.redraw(line);
}

async function chooseSame(page, by) {
  const { selected } = page.line;
  const row = selected && selected.same && (by < 0 ? selected.same.previous : selected.same.next);
  if (row !== null && row !== undefined) choose(page, row, true);
}

function zoomToChosen(page, what = "") {
  const { line } = page;
  const slice = line.selected;
  if (what === "range" || (!slice && line.chosen)) {
    if (line.chosen) lines.show(line, camera.around(line.chosen.from, line.chosen.to - line.chosen.from, 0.96));
  } else if (slice) lines.show(line, camera.around(slice.start, Math.max(slice.duration, 10)));
}

function twice(page, place, time) {
  const row = rowUnder(page, place);
  if (row !== null) {
    fetchSlice(page, row, true).then((slice) => lines.show(page.line, camera.around(slice.start, Math.max(slice.duration, 10))), () => {});
    return;
  }
  const at = page.line.facts.steps.findIndex(([, start, length]) => start <= time && time < start + length);
  if (at >= 0) zoomToStep(page, at);
}

function zoomToStep(page, at) {
  const step = page.line.facts.steps[at];
  if (step && page.stepSelect.value !== undefined) lines.show(page.line, camera.around(step[1], step[2], 0.96));
  page.stepSelect.value = "";
}

// Hovering -----------------------------------------------------------------------------------------------------------

async function hover(page, place, x, y) {
  const { line } = page;
  if (!line) return;
  const row = rowUnder(page, place);
  page.host.overlay.style.cursor = row === null ? "" : "pointer";
  if (row === null) {
    page.hovered = null;
    line.hover = null;
    page.host.tip.hidden = true;
    lines.redraw(line);
    return;
  }
  page.hovered = row;
  let slice;
  try {
    slice = await fetchSlice(page, row, true);
  } catch {
    return;
  }
  if (page.hovered !== row || page.line !== line) return;
  const several = place.found.bucket;
  line.hover = several === undefined ? { slice } : {};
  drawTip(page, slice, several === undefined ? null : {
    count: line.view.buckets.count[several], share: line.view.buckets.busy[several] / 255,
  }, x, y);
  lines.redraw(line);
}

function drawTip(page, slice, several, x, y) {
  const { tip, canvasHost } = page.host;
  const rows = [];
  if (several) {
    const key = several.count ? "timeline.several" : "timeline.ends_here";
    rows.push(words(key, { n: count(several.count), share: `${Math.round(several.share * 100)} %` }, "p", "ms-muted"));
  }
  const name = make("p", "ms-timeline-tip-name", slice.name || "–");
  if (several && several.count > 1) name.prepend(words("timeline.longest", {}, "span", "ms-muted"), " ");
  rows.push(name);
  const pair = (key, value) => [words(key, {}, "dt"), make("dd", "", value)];
  rows.push(make("dl", "ms-timeline-tip-facts", [
    ...pair("timeline.duration", duration(slice.duration)), ...pair("timeline.self", duration(slice.self)),
    ...pair("timeline.start", exactTime(slice.start - page.line.zero)),
  ]));
  rows.push(make("p", "ms-muted ms-cut", trackTitle(page.line.facts.tracks[slice.track])));
  tip.replaceChildren(...rows);
  tip.hidden = false;
  const left = canvasHost.offsetLeft + x;
  const body = tip.parentElement;
  const beside = left + 16 + tip.offsetWidth < body.clientWidth ? left + 16 : left - 12 - tip.offsetWidth;
  tip.style.left = `${Math.max(4, beside)}px`;
  tip.style.top = `${Math.max(4, Math.min(y + 16, body.clientHeight - tip.offsetHeight - 6))}px`;
}

// A range ------------------------------------------------------------------------------------------------------------

// The tracks that statistics are of: all, or if some are hidden or filtered, those shown.
function countedTracks(page) {
  const { line } = page;
  const look = line.look;
  if (!look.filter && !look.hidden.size) return "";
  const shown = line.tree.filter((one) => !look.hidden.has(one.id)).flatMap((one) => one.tracks)
    .filter((track) => !look.hidden.has(track.id) && track.slices)
    .filter((track) => !look.filter || line.places.has(track.id));
  return shown.map((track) => track.index).sort((a, b) => a - b).join(",");
}

async function chooseRange(page, range) {
  const { line } = page;
  const before = line.chosen;
  line.chosen = range;
  page.rangeFound = null;
  if (!range) {
    if (page.panel.shown === "range") drawPanel(page);
    return;
  }
  const turn = (page.rangeTurn = (page.rangeTurn || 0) + 1);
  if (!same(before, range)) drawPanel(page, "range");
  try {
    const found = await line.server.json("range", rangeAsked(page, range));
    if (turn !== page.rangeTurn || page.line !== line) return;
    page.rangeFound = found;
  } catch (error) {
    page.rangeFound = { columns: [], rows: [], total: 0, error: error.message };
  }
  if (page.panel.shown === "range") drawPanel(page, "range");
}

function rangeAsked(page, { from, to }) {
  return { from, to, clip: get(page, "clip", "1"), by: get(page, "by", "name"), tracks: countedTracks(page) };
}

// Search -------------------------------------------------------------------------------------------------------------

async function search(page) {
  const { line } = page;
  const q = get(page, "q");
  const shortest = Math.round(Number(get(page, "shortest")) * 1000) || 0;
  line.hits = null;
  page.hitAt = -1;
  page.search.removeAttribute("aria-invalid");
  if (q || shortest > 0) {
    const turn = (page.searchTurn = (page.searchTurn || 0) + 1);
    try {
      const hits = await line.server.json("search", { q, regex: get(page, "regex"), shortest: shortest || "" });
      if (turn !== page.searchTurn || page.line !== line) return;
      line.hits = hits;
    } catch (error) {
      if (turn !== page.searchTurn) return;
      page.search.setAttribute("aria-invalid", "true");
      page.search.title = error.message;
    }
  } else page.searchTurn = (page.searchTurn || 0) + 1;
  drawHits(page);
  if (line.hits || page.panel.shown === "search") drawPanel(page, line.hits ? "search" : "");
  lines.redraw(line);
}

function drawHits(page) {
  const { hits } = page.line;
  page.hitTools.classList.toggle("ms-timeline-found-some", Boolean(hits));
  if (!hits) return;
  const none = !hits.row.length;
  page.previousHit.disabled = page.nextHit.disabled = none;
  if (none) writeText(page.hitCount, "timeline.hits_none");
  else {
    const total = `${count(hits.row.length)}${hits.more ? "+" : ""}`;
    writeText(page.hitCount, "timeline.hits", { place: page.hitAt < 0 ? "–" : count(page.hitAt + 1), n: total });
  }
  if (page.panel.shown === "search") showHits(page.panel, hits, page.line.names, page.line.facts.tracks, page.hitAt);
}

function goToHit(page, place) {
  const { hits } = page.line;
  if (!hits || !hits.row.length) return;
  page.hitAt = (place + hits.row.length) % hits.row.length;
  page.moving = true;
  page.change({ slice: [String(hits.row[page.hitAt])], tab: ["search"] });
  drawHits(page);
}

// The next hit after the one selected, or after what is at the left of the screen.
function nextHit(page, by) {
  const { hits, range } = page.line;
  if (!hits || !hits.row.length) return;
  if (page.hitAt >= 0) goToHit(page, page.hitAt + by);
  else {
    const first = hits.start.findIndex((start) => start >= range.from);
    goToHit(page, by > 0 ? Math.max(0, first) : (first < 0 ? hits.row.length : first) - 1);
  }
}

// The panel ----------------------------------------------------------------------------------------------------------

function openTab(page, name) {
  page.change({ tab: [name] });
  drawPanel(page, name);
}

function closePanel(page) {
  page.panel.host.hidden = true;
  page.panel.shown = "";
  page.change({ slice: [], range: [], tab: [] });
  if (page.line) lines.redraw(page.line);
}

// Show a tab: the one named, the one the state names, or that of what there is.
function drawPanel(page, wanted = "") {
  const { line, panel } = page;
  const has = { slice: Boolean(line.selected), range: Boolean(line.chosen), search: Boolean(line.hits) };
  const named = get(page, "tab");
  const name = named || (has[wanted] ? wanted : "") || ["slice", "range", "search"].find((one) => has[one]) || "";
  if (!name) {
    panel.host.hidden = true;
    panel.shown = "";
    lines.redraw(line);
    return;
  }
  if (!has[name]) showHint(panel, name);
  else if (name === "slice") showSlice(panel, line.selected, line.facts.tracks, linksOf(page, line.selected));
  else if (name === "search") {
    panel.shown = "search";
    showHits(panel, line.hits, line.names, line.facts.tracks, page.hitAt);
  } else {
    const asked = rangeAsked(page, line.chosen);
    showRange(panel, { range: line.chosen, clip: asked.clip, by: asked.by }, page.rangeFound, {
      csv: line.server.url("range.csv", asked), trace: line.server.url("trace.json", { from: asked.from, to: asked.to }),
    });
  }
  lines.redraw(line);
}

// Links to where other pages tell of a slice.
function linksOf(page, slice) {
  const track = page.line.facts.tracks[slice.track];
  const query = (more) => new URLSearchParams({
    ...(page.state.run ? { run: page.state.run[0] } : {}), of: page.run.key, session: page.profile.session,
    rank: String(page.profile.rank), ...more,
  }).toString();
  const found = [];
  const prefix = page.root.dataset.routes.replace(/api\/$/, "");
  const add = (name, key, more) => {
    const text = query(more);
    found.push(make("a", "ms-button", words(key), { href: `${prefix}${name}?${text}`, "data-page": name, "data-query": text }));
  };
  if (["device_stream", "communication"].includes(track.kind) && page.profile.frames.includes("operators")) {
    add("operators", "timeline.operator", { q: slice.name });
  }
  if (slice.step && page.profile.frames.includes("steps")) add("steps", "timeline.of_step", { step: slice.step });
  return found;
}

// A picture ----------------------------------------------------------------------------------------------------------

function savePicture(page) {
  const { host, line } = page;
  const { ratio } = line;
  const style = getComputedStyle(host.root);
  const [top, side] = [host.ruler.height, Math.round(host.labels.clientWidth * ratio)];
  const canvas = document.createElement("canvas");
  canvas.width = side + host.canvas.width;
  canvas.height = top + host.canvas.height;
  const context = canvas.getContext("2d");
  context.fillStyle = style.getPropertyValue("--ms-card");
  context.fillRect(0, 0, canvas.width, canvas.height);
  for (const each of [host.canvas, host.overlay]) context.drawImage(each, side, top);
  context.drawImage(host.ruler, side, 0);
  context.scale(ratio, ratio);
  context.fillStyle = style.getPropertyValue("--ms-text");
  context.font = `12px ${style.fontFamily}`;
  context.textBaseline = "middle";
  const box = host.canvas.getBoundingClientRect();
  context.beginPath();
  context.rect(0, top / ratio, side / ratio - 4, host.canvas.height / ratio);
  context.clip();
  for (const label of host.view.querySelectorAll(".ms-timeline-name")) {
    const place = label.getBoundingClientRect();
    if (place.bottom < box.top || place.top > box.bottom) continue;
    context.fillText(label.textContent, place.left - box.left + side / ratio, place.top - box.top + top / ratio + place.height / 2);
  }
  canvas.toBlob((blob) => {
    const link = make("a", "", [], { href: URL.createObjectURL(blob), download: "timeline.png" });
    link.click();
    window.setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  });
}

// Keys ---------------------------------------------------------------------------------------------------------------

function mark(page) {
  const { line } = page;
  const time = Math.round(line.pointer ? timeAt(line, line.pointer.x) : (line.range.from + line.range.to) / 2);
  const marks = line.marks.length >= 2 ? [] : line.marks;
  page.change({ mark: [...marks, time].map(String) });
}

function escape(page) {
  const { state } = page;
  if (page.menu) closeMenu(page);
  else if ((state.slice || []).length || (state.range || []).length || !page.panel.host.hidden) closePanel(page);
  else if ((state.mark || []).length) page.change({ mark: [] });
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
  f: (page) => zoomToChosen(page),
  m: mark,
  n: (page) => nextHit(page, 1),
  N: (page) => nextHit(page, -1),
  ",": (page) => chooseSame(page, -1),
  ".": (page) => chooseSame(page, 1),
};

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || document.querySelector("dialog[open]")) return;
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
