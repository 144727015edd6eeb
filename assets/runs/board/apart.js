// A card of a page in the document of the board. The page's own scripts draw it, with the answers of the page's own callbacks;
// only Dash has no part in it, which compares all components of a document at each change: here stores of the page are values,
// and its callbacks run by the list that Dash has, too (calls.js).

import { apartInstance, functionsOf, keepApart } from "../../kit/dash.js";
import { make, words } from "../../kit/elements.js";
import { chartsLoaded, contentAt, loaded } from "../../kit/page_files.js";
import { fillPlain } from "../../kit/plain_html.js";
import { gone, selected } from "../../kit/run_selection.js";
import { formatQuery, parseQuery, same } from "../../kit/state.js";
import * as calls from "./calls.js";
import { componentIn, nodesOf, partKey } from "./components.js";
import { nextOf, reachOf } from "./order.js";

/** @import { Answer, Call, Callback, Place } from "./calls.js" */
/** @import { Component, Made } from "./components.js" */

const SERVER = "ms";  // the instance that the server knows: layouts/kit/page.py
const GIVEN = ["state", "version", "interval"];  // stores of the frame around a page that its callbacks take
const AROUND = new Set(["frame_shows", "picker_changed"]);  // callbacks of what surrounds a page: layouts/shell/chrome.py
const HIGH = 400;  // px of a card with room for two rows of runs, as of a frame in kit/alone.css
const SIZED_MS = 60;  // after which a plot takes the size of its card
/** Pages with one card per tag that have nothing but elements and stores; whether they have charts. */
const PAGES = new Map([["scalars", true], ["histograms", true], ["images", false]]);

/**
 * Whether a card can be shown without a frame: that of a tag, on a page of our own application.
 * @param {Wire.BoardCard} card
 */
export function fits({ place, part }) {
  const inOurs = document.querySelector('meta[name="mindscope-pages"]') !== null;
  return inOurs && place !== null && part.startsWith("key:") && PAGES.has(place.split("?")[0]);
}

/** A card of a page on screen. */
class Apart {
  /**
   * @param {HTMLElement} host
   * @param {Wire.BoardCard} card
   * @param {string} place of its page
   * @param {{ app: string, version: unknown, rows: () => Wire.RunRow[], changed: (place: string) => void }} around
   */
  constructor(host, card, place, around) {
    const [path, ...query] = place.split("?");
    this.host = host;
    this.tag = card.part.slice("key:".length);
    this.path = path;
    this.around = around;
    this.instance = apartInstance(card.key);
    /** @type {Map<string, unknown>} */
    this.values = new Map([["state.data", parseQuery(query.join("?"))], ["version.data", around.version]]);
    /** @type {Callback[]} */
    this.callbacks = [];
    /** @type {Made} */
    this.made = { ids: new Set(), parts: new Map() };
    /** @type {Map<string, { plot: any, observer: ResizeObserver, config: object }>} */
    this.plots = new Map();
    /** @type {HTMLElement | null} */
    this.root = null;
    /** @type {Set<Callback>} */
    this.due = new Set();  // callbacks of which an input was set
    this.queued = false;  // whether those will be run
    /** @type {Map<Callback, Call>} */
    this.awaited = new Map();  // callback -> its call that was made last: answers to others are dropped, as by Dash
    /** @type {Map<Callback, Set<string>>} */
    this.reach = new Map();
    this.forget = () => {};
    this.sized = new ResizeObserver(() => this.root?.classList.toggle("ms-apart-high", host.clientHeight >= HIGH));
    this.ended = false;
  }

  /** @param {string} part */
  serverId(part) {
    return `${SERVER}-${this.path}-${part}`;
  }

  /** @param {string} id */
  partOf(id) {
    return id.split("-").slice(2).join("-");
  }

  /**
   * Make the card of the components of its page, and let the callbacks run that run when a page opens.
   * @param {DashComponent} content
   * @param {Callback[]} callbacks
   */
  begin(content, callbacks) {
    const page = componentIn(content, ({ props }) => props.id === this.serverId("root"));
    if (!page) throw new Error(`expected the page ${this.path}, found none`);
    const [root] = nodesOf(page, (id) => id.replace(`${SERVER}-`, `${this.instance}-`), this.made);
    this.root = /** @type {HTMLElement} */ (root);
    fillPlain(this.root);
    Object.assign(this.root.dataset, { instance: this.instance, only: this.tag, slots: "1", most: "1" });
    this.root.classList.add("ms-apart");
    const [slot, ...others] = /** @type {NodeListOf<HTMLElement>} */ (this.root.querySelectorAll(".ms-slot"));
    for (const one of others) one.remove();
    slot.classList.add("ms-only");
    slot.dataset.board = "";
    this.forget = keepApart(this.instance, (id, props) => this.given(id, props));
    this.host.append(this.root);
    this.host.classList.add("ms-board-here");
    this.sized.observe(this.host);
    this.judge();
    const known = new Set([...this.made.ids, ...GIVEN.map((part) => this.serverId(part))]);
    this.callbacks = callbacks.filter((one) =>
      !AROUND.has(one.clientside_function?.function_name || "")
      && [...one.inputs, ...one.state, ...calls.outputsOf(one)].every(({ id }) => known.has(id)));
    this.reach = reachOf(this.callbacks);
    const first = this.callbacks.filter((one) => !one.prevent_initial_call);
    const later = new Set(first.flatMap((one) => calls.outputsOf(one).map(({ id }) => id)));
    for (const one of first) if (!one.inputs.some(({ id }) => later.has(id))) this.due.add(one);
    this.runDue();
  }

  /**
   * What scripts set of a component.
   * @param {string | Record<string, string>} id
   * @param {Record<string, unknown>} props
   */
  given(id, props) {
    if (this.ended) return;
    if (typeof id === "string") {
      this.set(this.partOf(id), props);
      return;
    }
    if (id.part === "plot") this.makePlot(id.key, /** @type {Component} */ (props.children).props);
    if (id.part === "graph" && props.figure) this.draw(id.key, /** @type {PlotlyFigure} */ (props.figure));
  }

  /**
   * Set properties of a component, and run the callbacks that take them once all that is set together is there.
   * @param {string} part
   * @param {Record<string, unknown>} props
   */
  set(part, props) {
    for (const [property, value] of Object.entries(props)) {
      const now = this.values.get(`${part}.${property}`);
      if (value !== null && typeof value !== "object" && value === now) continue;
      this.values.set(`${part}.${property}`, value);
      if (part === "state") this.around.changed(this.place());
      for (const one of this.callbacks) {
        if (one.inputs.some((input) => this.partOf(input.id) === part && input.property === property)) this.call(one);
      }
    }
  }

  /** @param {Callback} callback */
  call(callback) {
    this.due.add(callback);
    if (this.queued) return;
    this.queued = true;
    queueMicrotask(() => {
      this.queued = false;
      this.runDue();
    });
  }

  /** Run the callbacks that are due, but for those that wait for an answer. */
  runDue() {
    while (!this.ended) {
      const next = nextOf(this.due, this.awaited.keys(), this.reach);
      if (!next) return;
      this.due.delete(next);
      this.run(next);
    }
  }

  /** The place of the page as it is now. */
  place() {
    const query = formatQuery(/** @type {Wire.Query} */ (this.values.get("state.data")));
    return query ? `${this.path}?${query}` : this.path;
  }

  /** @param {Place} place */
  valueOf({ id, property }) {
    const part = this.partOf(id);
    return property === "id" ? `${this.instance}-${this.path}-${part}` : this.values.get(`${part}.${property}`);
  }

  /** @param {Callback} callback */
  run(callback) {
    const { clientside_function: named, inputs, state } = callback;
    if (named) {
      const values = [...inputs, ...state].map((one) => this.valueOf(one));
      const found = functionsOf(named.namespace)[named.function_name](...values);
      const outputs = calls.outputsOf(callback);
      outputs.forEach(({ id, property }, at) => {
        const value = callback.output.startsWith("..") ? /** @type {unknown[]} */ (found)[at] : found;
        if (value !== window.dash_clientside.no_update) this.set(this.partOf(id), { [property]: value });
      });
      return;
    }
    /** @param {Place} one */
    const withValue = (one) => ({ ...one, value: this.valueOf(one) });
    /** @type {Call} */
    const call = {
      app: this.around.app, callback, inputs: inputs.map(withValue), state: state.map(withValue),
      take: (answer, refusal) => {
        if (this.ended || this.awaited.get(callback) !== call) return;
        this.awaited.delete(callback);
        for (const [id, props] of Object.entries(answer)) this.set(this.partOf(id), props);
        if (refusal !== undefined) this.sayRefused(refusal);
        this.runDue();
      },
    };
    this.awaited.set(callback, call);
    calls.ask(call);
  }

  /** @param {string} reason */
  sayRefused(reason) {
    this.root?.dispatchEvent(new CustomEvent("mindscope:refused", { bubbles: true, detail: { reason } }));
  }

  /** If none of its runs exists, a message takes the place of the card. */
  judge() {
    if (!this.root) return;
    const state = /** @type {Wire.Query} */ (this.values.get("state.data"));
    const rows = this.around.rows();
    const names = selected(state, { rows, default: [] }).size ? [] : gone(state, rows);
    this.root.hidden = names.length > 0;
    this.root.nextElementSibling?.remove();
    if (!names.length) return;
    const message = words("shell.gone", { names: names.join(", ") }, "p", "ms-empty-sentence");
    this.root.after(make("div", "ms-empty ms-apart-gone", message));
  }

  /**
   * There are new data.
   * @param {unknown} version
   */
  news(version) {
    this.judge();
    this.set("version", { data: version });
    this.set("interval", { n_intervals: Number(this.values.get("interval.n_intervals") || 0) + 1 });
  }

  // Plots, as dcc.Graph draws them ------------------------------------------------------------------------------------

  /**
   * @param {string} key
   * @param {Record<string, any>} props of the graph
   */
  makePlot(key, { config, figure, className }) {
    const host = this.made.parts.get(partKey("plot", key));
    if (!host) return;
    const plot = document.createElement("div");
    const graph = document.createElement("div");
    graph.className = `dash-graph ${className}`;
    graph.append(plot);
    host.replaceChildren(graph);
    let timer = 0;
    const observer = new ResizeObserver(() => {
      window.clearTimeout(timer);
      timer = window.setTimeout(() => {
        if (this.ended || !plot.isConnected || !plot.clientWidth) return;
        const { width, height } = /** @type {any} */ (plot)._fullLayout || {};
        if (width !== plot.clientWidth || height !== plot.clientHeight) window.Plotly.Plots.resize(plot);
      }, SIZED_MS);
    });
    observer.observe(plot);
    this.plots.set(key, { plot, observer, config: { ...config, responsive: true } });
    this.draw(key, figure);
  }

  /**
   * @param {string} key
   * @param {PlotlyFigure} figure
   */
  draw(key, { data, layout }) {
    const known = this.plots.get(key);
    if (!known) return;
    const { plot, config } = known;
    const isFirst = !plot.on;
    window.Plotly.react(plot, data, { ...layout, width: undefined, height: undefined, autosize: true }, config);
    if (!isFirst) return;
    const id = { ms: this.instance, page: this.path, part: "graph", key };
    plot.on("plotly_relayout", (/** @type {Record<string, unknown>} */ change) =>
      functionsOf("mindscope_cards").moved(change, id, `${this.instance}-${this.path}-root`));
  }

  end() {
    this.ended = true;
    this.forget();
    this.sized.disconnect();
    this.host.classList.remove("ms-board-here");
    for (const { plot, observer } of this.plots.values()) {
      observer.disconnect();
      window.Plotly.purge(plot);
    }
    this.root?.nextElementSibling?.remove();
    this.root?.remove();
  }
}

/** @type {Promise<unknown>} */
let last = Promise.resolve();  // one card is made after the other, so that the page stays responsive
const nextTask = () => new Promise((resolve) => window.setTimeout(resolve));

/**
 * Show a card in an element. Rejects if its page cannot be shown without a frame.
 * @param {Boards.Page} page
 * @param {HTMLElement} host
 * @param {Wire.BoardCard} card
 * @param {string} place of its page
 * @param {unknown} version of the data
 * @param {(place: string) => void} changed called with the place that users have made of the page
 * @returns {{ apart: Apart, begun: Promise<void> }}
 */
export function begin(page, host, card, place, version, changed) {
  const apart = new Apart(host, card, place, { app: page.app, version, rows: () => page.rows || [], changed });
  const [path] = place.split("?");
  const content = contentAt(`${page.routes}pages/${path}.json`);
  const needed = Promise.all([content, calls.callbacksOf(page.app), loaded(path), PAGES.get(path) && chartsLoaded()]);
  const begun = needed.then(([content, callbacks]) => {
    const made = last.then(() => {
      if (!apart.ended) apart.begin(content, callbacks);
    });
    last = made.then(nextTask, nextTask);
    return made;
  });
  return { apart, begun };
}

/**
 * Whether two places are the same page with the same state.
 * @param {string} one
 * @param {string} other
 */
export function samePlace(one, other) {
  const [[path, ...query], [otherPath, ...otherQuery]] = [one.split("?"), other.split("?")];
  return path === otherPath && same(parseQuery(query.join("?")), parseQuery(otherQuery.join("?")));
}
