// The graph of the iteration in the middle, drawn by the canvas of graphs; without a graph the operators in the order they ran.
// The canvas knows boxes (n5, s:Default/net); the page's state has the full name of the selected operator under node, and
// another selected box under box.

import { setProps } from "../../kit/dash.js";
import { fillSelect, make, select, words } from "../../kit/elements.js";
import { count } from "../../kit/units.js";
import { setLabel, translate, writeText } from "../../kit/i18n.js";
import { currentPrefs } from "../../kit/prefs.js";
import { askOf, assume, forget, get, request } from "../dumps.js";
import { notYet } from "../../kit/pages.js";
import { rowList } from "../rows.js";
import * as canvas from "../../graphs/canvas.js";
import { hitsHere } from "./nodes.js";
import * as watch from "./watch.js";
import { hitBadge, shortName } from "./display_names.js";

const HEIGHT = 26;

/** @returns {Debugger.GraphFields} */
export const fields = () => ({
  graph: notYet, graphChoice: notYet, near: notYet, ordered: false, orderRows: notYet, orderedNode: null,
});

/** @param {Debugger.Page} page */
export function build(page) {
  const root = page.find(".ms-debugger-graph");
  page.graph = {
    root, store: page.store, find: (selector) => root.querySelector(selector), marked: () => {},
    keys: new Map(), opened: [], drawing: null, there: null, fit: true, anchor: null, centre: false, sought: null,
    turned: null, turns: 0, home: undefined, looked: null, painted: null, mini: 1, walked: null, run: null,
    full: {}, boxes: new Map(), number: null, key: "", kept: null, wanted: null,
    get state() { return { ...page.state, node: [boxOf(page)] }; },
    change: (changes) => change(page, changes),
  };
  const { graph } = page;
  page.graphChoice = select("debugger.graph", (number) => {
    graph.fit = true;
    graph.kept = null;
    page.change({ graph: [number], open: [], page: [], camera: [] });
  });
  page.near = make("button", "ms-button ms-button-small", words("debugger.near"), { type: "button", "aria-pressed": "false" });
  page.graphChoice.hidden = page.near.hidden = true;
  setLabel(page.near, "title", "debugger.near.tip");
  page.near.addEventListener("click", () => {
    graph.fit = true;
    page.change({ near: get(page, "near") === "1" ? [] : ["1"], camera: [] });
  });
  page.find(".ms-debugger-graph-controls").replaceChildren(page.graphChoice, page.near);
  canvas.build(graph);
  page.orderRows = rowList(page.find(".ms-debugger-order .ms-debugger-rows"), {
    height: HEIGHT,
    draw: (row) => orderLine(page, row),
    ask: (first, many) => sendOrder(page, first, many),
  });
}

/** @param {Debugger.Page} page */
const boxOf = (page) => get(page, "box") || page.graph.boxes.get(get(page, "node")) || "";

/**
 * What the canvas changes, in terms of the page.
 * @param {Debugger.Page} page
 * @param {Wire.Query} changes
 */
function change(page, { node, ...rest }) {
  const [box] = node || [];
  if (box === undefined) page.change(rest);
  else if (!box) page.change({ ...rest, box: [], node: [], io: [] });
  else if (page.graph.full[box] !== undefined) page.change({ ...rest, box: [], node: [page.graph.full[box]], io: [] });
  else page.change({ ...rest, box: [box] });
}

/** @param {Debugger.Page} page */
function ask(page) {
  const { graph } = page;
  /** @type {Wire.Query} */
  const found = { ...askOf(page), watch: [watch.enabledJson(page)], hits: hitsHere(page) };
  const near = get(page, "near") === "1" && get(page, "node") !== "";
  for (const key of ["open", "page"]) if ((page.state[key] || []).length && !near) found[key] = page.state[key];
  // Boxes that were opened to show one stay open, although the address does not name them.
  if (!found.open && graph.kept && !near) found.open = graph.kept;
  const number = get(page, "graph") || (graph.number === null || graph.key !== keyOf(page) ? "" : String(graph.number));
  if (number !== "") found.graph = [number];
  const marked = watch.markedJson(page);
  if (marked) found.marked = [marked];
  if (currentPrefs().theme === "dark") found.theme = ["dark"];
  const node = get(page, "node");
  const box = get(page, "box");
  if (near) return { ...found, near: ["1"], node: [node] };
  const there = box ? graph.keys.has(box) : graph.boxes.has(node);
  if ((node || box) && !there && graph.sought !== node + box) {
    Object.assign(found, { reveal: ["1"], node: [node] }, box ? { box: [box] } : {});
    if (get(page, "graph") === "") delete found.graph;
  }
  return found;
}

/** @param {Debugger.Page} page */
const keyOf = (page) => `${page.dump.key} ${page.rank} ${page.step}`;

/** @param {Debugger.Page} page */
export function draw(page) {
  const { graph } = page;
  graph.run = { name: page.dump.name };
  const wanted = ask(page);
  request(page, "drawing", wanted);
  graph.wanted = wanted;
  page.near.setAttribute("aria-pressed", String(get(page, "near") === "1"));
  page.near.disabled = get(page, "node") === "";
  if (graph.drawing) canvas.mark(graph);
  if (page.ordered) {
    const [first, many] = page.orderRows.window();
    sendOrder(page, first, many);
    page.orderRows.repaint();
  }
}

/** @param {Debugger.Page} page */
export function take(page, answer) {
  const { graph } = page;
  const there = answer.state === "ready";
  page.ordered = !there;
  graph.find(".ms-graph-canvas").hidden = !there;
  graph.find(".ms-debugger-order").hidden = there;
  const message = graph.find(".ms-graph-message");
  const problems = answer.state === "broken" ? [answer.text] : there ? answer.meta.problems : [];
  message.replaceChildren(...problems.map((/** @type {string} */ text) => make("p", "", text)));
  message.hidden = !problems.length;
  for (const name of ["png", "fit"]) graph.find(`[data-act="${name}"]`).hidden = !there;
  page.near.hidden = !there;
  const { graphs = [], number = null } = there ? answer.meta : answer;
  const choices = graphs.map((one) => [String(one), translate("debugger.strip.graph", { n: one })]);
  fillSelect(page.graphChoice, choices, String(number));
  page.graphChoice.hidden = graphs.length < 2;
  drawTitle(page, there);
  if (!there) {
    page.orderRows.reset();
    forget(page, "order");  // its rows are gone, so that the same question is asked again
    page.orderedNode = null;
    draw(page);
    return;
  }
  const { meta } = answer;
  const before = graph.drawing;
  if (graph.number !== meta.number || (before && before.meta.near !== meta.near)) graph.fit = true;
  const { elements, turn: stamp } = answer;
  if (elements.length) elements[elements.length - 1].data.stamp = stamp;
  graph.drawing = { elements, meta, stamp };
  graph.full = meta.full;
  graph.boxes = new Map(Object.entries(meta.full).map(([box, name]) => [name, box]));
  graph.number = meta.number;
  graph.key = keyOf(page);
  graph.keys = canvas.keys(answer.elements);
  graph.opened = meta.opened || [];
  if (graph.wanted && graph.wanted.reveal) {
    graph.sought = get(page, "node") + get(page, "box");
    if (meta.chosen) graph.centre = true;
    graph.kept = graph.opened.length ? graph.opened : [""];
    if (page.state.open) page.change({ open: graph.kept, page: meta.pages });
    graph.wanted = ask(page);
    assume(page, "drawing", graph.wanted);
  } else if (graph.wanted && !graph.wanted.graph) {
    graph.wanted = ask(page);
    assume(page, "drawing", graph.wanted);
  }
  canvas.placed(graph, before);
  setProps(page.store("canvas"), { elements: answer.elements, stylesheet: answer.stylesheet });
}

/**
 * @param {Debugger.Page} page
 * @param {boolean} there
 */
function drawTitle(page, there) {
  const title = page.graph.find(".ms-card-title");
  writeText(title, there ? "debugger.graph_of" : "debugger.order_of", { step: page.step === null ? "–" : count(page.step) });
}

/** @param {Debugger.Page} page */
export const png = (page) => canvas.png(page.graph);
/** @param {Debugger.Page} page */
export const fit = (page) => canvas.fit(page.graph);
/**
 * @param {Debugger.Page} page
 * @param {string} name
 */
export const key = (page, name) => Boolean(page.graph.drawing) && canvas.key(page.graph, name);

// Without a graph ---------------------------------------------------------------------------------------------------

/** @param {Debugger.Page} page */
function sendOrder(page, first, many) {
  const node = get(page, "node");
  request(page, "order", {
    ...askOf(page), watch: [watch.enabledJson(page)], hits: hitsHere(page), first: [String(first)], count: [String(many)],
    health: [page.health ? page.health.state : ""], ...(node ? { node: [node] } : {}),
  });
}

/** @param {Debugger.Page} page */
export function takeOrder(page, answer) {
  page.orderRows.put(answer);
  const note = page.find(".ms-debugger-order .ms-debugger-note");
  const of = answer.of_msprobe ? (answer.modules ? "no_graph_modules" : "no_graph_msprobe") : "no_graph";
  writeText(note, `debugger.${of}`);
  const node = get(page, "node");
  if (!node || answer.at < 0) return;
  if (page.orderedNode !== node) page.orderRows.seek(answer.at);
  page.orderedNode = node;
}

/** @param {Debugger.Page} page */
function orderLine(page, [name, type, scope, bad, hits]) {
  const depth = scope ? scope.split("/").length : 0;
  const parts = [
    make("span", "ms-cut", [make("strong", "", shortName(name)), " ", make("span", "ms-muted", type)]),
    make("span", "ms-cut ms-name ms-muted ms-debugger-scope", scope),
  ];
  if (bad === 1) parts.push(words("debugger.bad", {}, "span", "ms-badge ms-badge-wrong"));
  if (hits) parts.push(hitBadge(hits));
  const line = make("button", "ms-debugger-ran", parts, {
    type: "button", title: `${name}\n${scope}`, "aria-current": String(name === get(page, "node")),
  });
  line.style.paddingLeft = `${8 + Math.min(depth, 8) * 12}px`;
  line.addEventListener("click", () => page.change({ node: [name], io: [], box: [] }));
  return line;
}
