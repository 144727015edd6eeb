// The dataset graph page: pipelines as SVG, chosen operation, empty states. Counterpart of layouts/graphs/dataset, which
// computes positions.

import { setAlternative } from "../../kit/alternatives.js";
import { penOf } from "../../kit/canvases.js";
import { listDamage } from "../../kit/damage.js";
import { functionsOf, noUpdate, setProps } from "../../kit/dash.js";
import { icon, iconButton, make, menu, words } from "../../kit/elements.js";
import { count } from "../../kit/units.js";
import { language, setLabel, translate } from "../../kit/i18n.js";
import { nameElement } from "../../kit/name_elements.js";
import { CUT, Names, fitted } from "../../kit/names.js";
import { keeper, notYet } from "../../kit/pages.js";
import { showPlainHtml } from "../../kit/plain_html.js";
import { last, same } from "../../kit/state.js";
import * as saving from "./files.js";

const SVG = "http://www.w3.org/2000/svg";
const MARGIN = 16;
const ZOOMS = [0.25, 0.35, 0.5, 0.7, 0.85, 1, 1.25, 1.6, 2];
const MOST_NAMES = 6;
const MOST_TOLD = 60;
const ruler = penOf(document.createElement("canvas"));

/**
 * @param {HTMLElement} root
 * @returns {OwnFields<Graphs.DatasetPage>}
 */
const fresh = (root) => ({
  catalogue: notYet, drawn: "", names: new Names([]),
  box: JSON.parse(root.dataset.box || ""), columns: 0, width: 0, revealed: false, saved: 0,
});

const { pages, pageOf } = keeper(fresh, (page) => {
  buildZoom(page);
  page.root.addEventListener("click", (event) => clicked(page, event));
  page.root.addEventListener("keydown", (event) => pressed(page, event));
  new ResizeObserver(() => measure(page)).observe(page.root);
  measure(page);
});

/**
 * @param {Graphs.DatasetPage} page
 * @param {string} key
 */
const get = (page, key) => last(page.state, key, "");

/**
 * @param {Graphs.DatasetPage} page
 * @param {string} key
 * @param {string} value
 */
function put(page, key, value) {
  page.change({ [key]: value ? [value] : [] });
}

/**
 * Number of boxes in a row.
 * @param {Graphs.DatasetPage} page
 */
function measure(page) {
  const width = page.root.clientWidth;
  if (!width) return;
  const room = width - 2 * MARGIN - 4;
  const columns = Math.max(2, Math.min(40, Math.floor((room + page.box.between) / (page.box.width + page.box.between))));
  if (columns !== page.columns) {
    page.columns = columns;
    setProps(page.store("screen"), { data: columns });
  }
  if (page.catalogue && page.width !== width) resize(page);
  page.width = width;
}

// Drawing -----------------------------------------------------------------------------------------------------------

/**
 * @param {string} tag
 * @param {string} [className]
 * @param {Record<string, string | number>} [attributes]
 * @param {Element | Element[]} [children]
 */
function svg(tag, className, attributes = {}, children = []) {
  const element = document.createElementNS(SVG, tag);
  if (className) element.setAttribute("class", className);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  element.append(...(Array.isArray(children) ? children : [children]));
  return element;
}

/**
 * Cut a text to fit.
 * @param {string} text
 * @param {number} width
 * @param {string} font
 */
function cut(text, width, font) {
  ruler.font = font;
  return fitted(text.replace(/\s+/g, " "), width, (one) => ruler.measureText(one).width) || CUT;
}

/** @param {Graphs.DatasetPage} page */
function fonts(page) {
  const style = getComputedStyle(page.root);
  /**
   * @param {number} weight
   * @param {number} size
   */
  const font = (weight, size) => `${weight} ${size}px ${style.fontFamily}`;
  return { title: font(600, 13), name: font(500, 12), text: font(400, 12), small: font(400, 11) };
}

/**
 * @param {string} className
 * @param {number} x
 * @param {number} y
 * @param {string} text
 * @param {string} [whole]
 * @param {Record<string, string | number>} [more]
 */
function label(className, x, y, text, whole, more = {}) {
  const element = svg("text", className, { x, y, ...more });
  element.textContent = text;
  if (whole && whole !== text) {
    const title = svg("title");
    title.textContent = whole;
    element.append(title);
  }
  return element;
}

/**
 * @param {Graphs.BoxLine} line
 * @param {Graphs.Fonts} font
 * @param {Graphs.BoxSize} size
 */
function row(line, font, size) {
  const changed = line.changed ? " ms-dataset-changed" : "";
  const inside = size.width - 24;
  if (line.role === "line") {
    const key = cut(line.name, inside * 0.62, font.text);
    ruler.font = font.text;
    const left = inside - ruler.measureText(key).width - 10;
    const value = cut(line.text, left, font.text);
    const mark = line.changed
      ? [svg("rect", "ms-dataset-mark", { x: 6, y: line.y, width: size.width - 12, height: size.line, rx: 4 })]
      : [];
    return svg("g", `ms-dataset-line${changed}`, {}, [
      ...mark,
      label("ms-dataset-name", 12, line.y + 13, key, line.name),
      label("ms-dataset-value", size.width - 12, line.y + 13, value, line.text, { "text-anchor": "end" }),
    ]);
  }
  if (line.role === "more") {
    const text = translate("dataset.more", { n: line.text });
    return svg("g", `ms-dataset-line${changed}`, {}, label("ms-dataset-name", 12, line.y + 13, text));
  }
  return svg("g", `ms-dataset-part ms-dataset-part-${line.role}${changed}`, {}, [
    svg("rect", "ms-dataset-inner", { x: 8, y: line.y, width: size.width - 16, height: size.part, rx: 5 }),
    label("ms-dataset-inner-name", 16, line.y + 16, cut(line.name, inside - 8, font.name), line.name),
    label("ms-dataset-inner-text", 16, line.y + 32, cut(line.text || "–", inside - 8, font.small), line.text),
  ]);
}

/**
 * @param {Graphs.Box} one
 * @param {string} mark
 * @param {Graphs.Fonts} font
 * @param {Graphs.BoxSize} size
 */
function box(one, mark, font, size) {
  const classes = ["ms-dataset-box", `ms-dataset-${one.kind}`];
  if (one.only) classes.push("ms-dataset-only");
  else if (one.changed) classes.push("ms-dataset-touched");
  const rows = one.lines.map((line) => row(line, font, size));
  const hidden = one.hidden
    ? [label("ms-dataset-hidden", 0, -5, translate("dataset.hidden", { n: count(one.hidden) }))] : [];
  const spoken = `${one.title}: ${one.lines.map((line) => `${line.name} ${line.text}`).join(", ")}`;
  return svg(
    "g",
    classes.join(" "),
    {
      transform: `translate(${one.x} ${one.y})`,
      tabindex: "-1",
      role: "button",
      "data-node": `${mark}:${one.number}`,
      "aria-label": spoken,
    },
    [
      svg("rect", "ms-dataset-back", { width: size.width, height: one.height, rx: 7 }),
      svg("path", "ms-dataset-strip", { d: `M0 7a7 7 0 0 1 7 -7H${size.width - 7}a7 7 0 0 1 7 7V${size.head - 5}H0z` }),
      label("ms-dataset-title-text", 12, 18.5, cut(one.title, size.width - 24, font.title), one.title),
      ...hidden,
      ...rows,
      svg("rect", "ms-dataset-ring", { x: 0.5, y: 0.5, width: size.width - 1, height: one.height - 1, rx: 6.5 }),
    ],
  );
}

/**
 * A path with round corners.
 * @param {[number, number][]} points
 */
function path(points) {
  const radius = 7;
  let text = `M${points[0][0]} ${points[0][1]}`;
  for (let at = 1; at < points.length - 1; at += 1) {
    const [[ax, ay], [bx, by], [cx, cy]] = [points[at - 1], points[at], points[at + 1]];
    const near = Math.min(radius, Math.hypot(bx - ax, by - ay) / 2);
    const far = Math.min(radius, Math.hypot(cx - bx, cy - by) / 2);
    text += `L${bx + Math.sign(ax - bx) * near} ${by + Math.sign(ay - by) * near}Q${bx} ${by} `
      + `${bx + Math.sign(cx - bx) * far} ${by + Math.sign(cy - by) * far}`;
  }
  const [x, y] = points[points.length - 1];
  return `${text}L${x - 5} ${y}`;
}

/** @param {Graphs.Pipeline["links"][number]} options */
function link([source, target, points]) {
  const [x, y] = points[points.length - 1];
  return svg("g", "ms-dataset-link", { "data-from": source, "data-to": target }, [
    svg("path", "ms-dataset-wire", { d: path(points) }),
    svg("path", "ms-dataset-arrow", { d: `M${x - 7} ${y - 4}L${x} ${y}L${x - 7} ${y + 4}z` }),
  ]);
}

/**
 * @param {Graphs.DatasetPage} page
 * @param {Graphs.Pipeline} pipeline
 */
function picture(page, pipeline) {
  const font = fonts(page);
  const width = pipeline.width + 2 * MARGIN;
  const height = pipeline.height + 2 * MARGIN;
  const drawing = svg("svg", "ms-dataset-svg", {
    viewBox: `${-MARGIN} ${-MARGIN} ${width} ${height}`, "data-width": width, "data-height": height,
  }, [...pipeline.links.map(link), ...pipeline.boxes.map((one) => box(one, pipeline.mark, font, page.box))]);
  setAlternative(drawing, pipeline.alternative, "group");
  return drawing;
}

/**
 * @param {Graphs.ColouredRun[]} runs
 * @param {Names} names of all runs on the page
 */
function runNames(runs, names) {
  const shown = runs.slice(0, MOST_NAMES).map((run) => {
    const dot = make("span", "ms-dot");
    dot.style.background = run.colour;
    return make("span", "ms-dataset-run", [dot, nameElement(run.name, names)], { title: run.name });
  });
  const left = runs.slice(MOST_NAMES);
  if (!left.length) return shown;
  const more = words("dataset.runs_more", { n: count(left.length) }, "span", "ms-muted ms-dataset-run-more");
  more.title = left.slice(0, MOST_TOLD).map((run) => run.name).join("\n");
  return [...shown, more];
}

/**
 * @param {Graphs.DatasetPage} page
 * @param {Graphs.Pipeline} pipeline
 */
function head(page, pipeline) {
  const drawn = pipeline.boxes.length;
  const { total } = pipeline;
  const size = drawn < total
    ? words("dataset.drawn", { n: count(drawn), total: count(total) }, "span", "ms-badge ms-badge-accent")
    : words(total === 1 ? "dataset.operation_one" : "dataset.operations", { n: count(total) }, "span", "ms-badge");
  if (drawn < total) setLabel(size, "title", "dataset.drawn_tip");
  const mark = words("dataset.mark", { mark: pipeline.mark }, "span", "ms-badge ms-mono");
  setLabel(mark, "title", "dataset.mark_tip");
  const badges = [size, mark];
  if (pipeline.problem) badges.unshift(words("dataset.damaged", {}, "span", "ms-badge ms-badge-wrong"));
  const summary = make("summary", "ms-button ms-button-icon", icon("download"));
  for (const name of ["title", "aria-label"]) setLabel(summary, name, "dataset.save");
  /** @type {HTMLElement[]} */
  const items = ["svg", "png"].map((name) =>
    make("button", "ms-menu-item", words(`dataset.save.${name}`), { type: "button", "data-act": name }),
  );
  const query = new URLSearchParams({ run: pipeline.runs[0].key });
  items.push(
    make("a", "ms-menu-item", words("dataset.save.json"), {
      href: `${page.root.dataset.routes}dataset.json?${query}`,
      download: "",
    }),
  );
  const tools = make("span", "ms-card-tools", [menu(summary, items), iconButton("full", "dataset.full", "full")], {
    role: "toolbar",
  });
  const letter = pipeline.letter ? [make("span", "ms-dataset-letter", pipeline.letter)] : [];
  return make("header", "ms-card-head", [
    ...letter,
    make("h3", "ms-card-title ms-dataset-runs", runNames(pipeline.runs, page.names)),
    make("span", "ms-card-badges", badges),
    tools,
  ]);
}

/**
 * @param {Graphs.DatasetPage} page
 * @param {Graphs.Pipeline} pipeline
 */
function card(page, pipeline) {
  const problem = pipeline.problem ? [make("p", "ms-dataset-problem", pipeline.problem, { role: "alert" })] : [];
  return make("section", "ms-card ms-dataset-card", [
    head(page, pipeline), ...problem, make("div", "ms-card-body ms-dataset-scroll", picture(page, pipeline)),
  ], { tabindex: "-1", "data-mark": pipeline.mark });
}

/** @param {Graphs.DatasetPage} page */
function notes(page) {
  const { catalogue: known } = page;
  const found = [];
  const wrong = "ms-dataset-problem";
  if (known.broken.length) {
    found.push(words("dataset.broken", { names: known.broken.map((run) => run.name).join(", ") }, "p", wrong));
  }
  if (known.left) found.push(words("dataset.left", { n: count(known.left) }, "p", "ms-muted"));
  if (known.unseen) found.push(words("dataset.unseen", { n: count(known.unseen) }, "p", "ms-muted"));
  if (known.without_total) {
    const names = known.without.join(", ");
    const more = known.without_total - known.without.length;
    found.push(
      more
        ? words("dataset.without_more", { names, n: count(more) }, "p", "ms-muted")
        : words("dataset.without", { names }, "p", "ms-muted"),
    );
  }
  page.find(".ms-dataset-notes").replaceChildren(...found);
}

/** @param {Graphs.DatasetPage} page */
function draw(page) {
  const wanted = `${page.catalogue.digest} ${language()}`;
  if (page.drawn === wanted) return;
  page.drawn = wanted;
  const focused = document.activeElement && document.activeElement.closest && page.root.contains(document.activeElement)
    ? document.activeElement.dataset.node : "";
  page.names = new Names(page.catalogue.pipelines.flatMap(({ runs }) => runs.map(({ name }) => name)));
  page.find(".ms-dataset-pipelines").replaceChildren(...page.catalogue.pipelines.map((pipeline) => card(page, pipeline)));
  notes(page);
  elsewhere(page);
  if (focused) focusBox(page, focused);
}

/** @param {Graphs.DatasetPage} page */
function elsewhere(page) {
  const buttons = page.catalogue.elsewhere.map(({ key, name }) => {
    const button = make("button", "ms-button", nameElement(name), { type: "button", title: name });
    button.addEventListener("click", () => page.change({ run: [key] }));
    return button;
  });
  page
    .find(".ms-dataset-elsewhere")
    .replaceChildren(...(buttons.length ? [words("dataset.elsewhere", {}, "span", "ms-muted"), ...buttons] : []));
}

/** @param {Graphs.DatasetPage} page */
function showState(page) {
  const { catalogue } = page;
  let name = "";
  if (!catalogue.chosen) name = "no-runs";
  else if (!catalogue.pipelines.length) {
    const otherwise = catalogue.damage.length ? "damaged" : "none";
    name = catalogue.waiting ? "reading" : catalogue.broken.length ? "broken" : otherwise;
  }
  listDamage(page.root, catalogue.damage);
  for (const element of page.root.querySelectorAll("[data-state]")) element.hidden = element.dataset.state !== name;
  page.find(".ms-dataset-body").hidden = name !== "";
  page.find(".ms-dataset-comparison").hidden = catalogue.pipelines.length < 2;
}

// Size --------------------------------------------------------------------------------------------------------------

/** @param {Graphs.DatasetPage} page */
function buildZoom(page) {
  const buttons = [["−", "smaller", "dataset.smaller"], ["+", "larger", "dataset.larger"]].map(([sign, act, key]) => {
    const button = make("button", "ms-button", sign, { type: "button", "data-act": act });
    for (const name of ["title", "aria-label"]) setLabel(button, name, key);
    return button;
  });
  const fit = make("button", "ms-button", words("dataset.fit"), { type: "button", "data-act": "fit" });
  setLabel(fit, "title", "dataset.fit_tip");
  const host = page.find(".ms-dataset-zoom");
  host.setAttribute("role", "group");
  setLabel(host, "aria-label", "dataset.zoom");
  host.classList.add("ms-segments");
  host.replaceChildren(buttons[0], buttons[1], fit);
}

/**
 * @param {Graphs.DatasetPage} page
 * @param {SVGElement} drawing
 */
function zoomOf(page, drawing) {
  const named = get(page, "zoom");
  if (named !== "fit") return ZOOMS.includes(Number(named)) ? Number(named) : 1;
  const body = drawing.parentElement || page.root;
  const full = drawing.closest(".ms-full");
  const most = full ? body.clientHeight : Math.max(240, window.innerHeight - 260);
  return Math.min(1, (body.clientWidth - 2) / Number(drawing.dataset.width), most / Number(drawing.dataset.height));
}

/** @param {Graphs.DatasetPage} page */
function resize(page) {
  for (const drawing of page.root.querySelectorAll(".ms-dataset-svg")) {
    const zoom = zoomOf(page, drawing);
    drawing.setAttribute("width", Number(drawing.dataset.width) * zoom);
    drawing.setAttribute("height", Number(drawing.dataset.height) * zoom);
  }
  const fit = get(page, "zoom") === "fit";
  page.find('[data-act="fit"]').setAttribute("aria-pressed", String(fit));
}

/**
 * @param {Graphs.DatasetPage} page
 * @param {number} by
 */
function step(page, by) {
  const [drawing] = page.root.querySelectorAll(".ms-dataset-svg");
  if (!drawing) return;
  const now = zoomOf(page, drawing);
  const next = by > 0 ? ZOOMS.find((zoom) => zoom > now + 1e-6) : ZOOMS.filter((zoom) => zoom < now - 1e-6).pop();
  if (next) put(page, "zoom", next === 1 ? "" : String(next));
}

// Choosing ----------------------------------------------------------------------------------------------------------

/** @param {Graphs.DatasetPage} page */
const boxes = (page) => Array.from(page.root.querySelectorAll(".ms-dataset-box"));
/**
 * @param {Graphs.DatasetPage} page
 * @param {string} name
 */
const boxOf = (page, name) => boxes(page).find((element) => element.dataset.node === name);

/** @param {Graphs.DatasetPage} page */
function mark(page) {
  const name = get(page, "node");
  const all = boxes(page);
  for (const element of all) element.setAttribute("aria-pressed", String(element.dataset.node === name));
  const [owner, number] = name.split(":");
  for (const element of page.root.querySelectorAll(".ms-dataset-link")) {
    const mine = element.closest("[data-mark]").dataset.mark === owner;
    element.classList.toggle("ms-dataset-near", mine && (element.dataset.from === number || element.dataset.to === number));
  }
  // Tab reaches one box of each drawing; arrow keys move between boxes.
  for (const section of page.root.querySelectorAll(".ms-dataset-card")) {
    const own = Array.from(section.querySelectorAll(".ms-dataset-box"));
    const first = own.find((element) => element.dataset.node === name) || own[own.length - 1];
    for (const element of own) element.setAttribute("tabindex", element === first ? "0" : "-1");
  }
}

/**
 * Scroll to the operation named in the link.
 * @param {Graphs.DatasetPage} page
 */
function reveal(page) {
  const name = get(page, "node");
  const element = page.revealed ? null : boxOf(page, name);
  page.revealed = true;
  if (element) element.scrollIntoView({ block: "nearest", inline: "nearest" });
}

/**
 * @param {Graphs.DatasetPage} page
 * @param {string} name
 */
function choose(page, name) {
  page.change({ node: name ? [name] : [], rows: [] });
}

/**
 * @param {Graphs.DatasetPage} page
 * @param {string} name
 */
function focusBox(page, name) {
  const element = boxOf(page, name);
  if (element) {
    element.focus({ preventScroll: true });
    element.scrollIntoView({ block: "nearest", inline: "nearest" });
  }
  return Boolean(element);
}

/**
 * @param {Graphs.DatasetPage} page
 * @param {PointerEvent} event
 */
function clicked(page, event) {
  const target = event.target instanceof Element ? event.target : null;
  const named = target && target.closest("[data-node]");
  if (named) {
    const jump = named.matches("button");
    if (!jump && String(window.getSelection()).trim()) return;  // the user is selecting text
    choose(page, named.dataset.node);
    if (jump) focusBox(page, named.dataset.node);
    return;
  }
  const rows = target && target.closest("[data-rows]");
  if (rows) put(page, "rows", rows.dataset.rows);
  const button = target && target.closest("[data-act]");
  if (button) act(page, button.dataset.act, button.closest(".ms-dataset-card"));
}

/**
 * @param {Graphs.DatasetPage} page
 * @param {string} name
 * @param {HTMLElement | null} section
 */
function act(page, name, section) {
  if (name === "full") put(page, "full", get(page, "full") ? "" : (section || page.find(".ms-dataset-card")).dataset.mark);
  if (name === "smaller") step(page, -1);
  if (name === "larger") step(page, 1);
  if (name === "csv") {
    page.saved = (page.saved || 0) + 1;
    setProps(page.store("save"), { data: { ...(page.state.run ? { run: page.state.run } : {}), turn: [String(page.saved)] } });
  }
  if (name === "fit") put(page, "zoom", get(page, "zoom") === "fit" ? "" : "fit");
  const saver = { svg: saving.svg, png: saving.png }[name];
  if (saver && section) saver(section.querySelector("svg"), section.querySelector(".ms-dataset-runs").textContent);
}

/**
 * Box in the direction of an arrow key: along the data, or the nearest above or below.
 * @param {HTMLElement} element
 * @param {string} key
 */
function beside(element, key) {
  const drawing = element.closest("svg");
  const own = Array.from(drawing.querySelectorAll(".ms-dataset-box"));
  const [, number] = (element.dataset.node || "").split(":");
  /** @param {string | undefined} wanted */
  const find = (wanted) => own.find((other) => other.dataset.node.split(":")[1] === wanted);
  if (key === "ArrowRight" || key === "ArrowLeft") {
    const [from, to] = key === "ArrowRight" ? ["from", "to"] : ["to", "from"];
    const joined = Array.from(drawing.querySelectorAll(".ms-dataset-link")).find((one) => one.dataset[from] === number);
    return joined && find(joined.dataset[to]);
  }
  if (key === "Home") return own[own.length - 1];
  if (key === "End") return own[0];
  const at = element.getBoundingClientRect();
  const down = key === "ArrowDown" ? 1 : -1;
  /** @param {HTMLElement} other */
  const far = (other) => {
    const place = other.getBoundingClientRect();
    return Math.abs(place.left - at.left) * 2 + Math.abs(place.top - at.top);
  };
  return own.filter((other) => (other.getBoundingClientRect().top - at.top) * down > 1).sort((a, b) => far(a) - far(b))[0];
}

/**
 * @param {Graphs.DatasetPage} page
 * @param {KeyboardEvent} event
 */
function pressed(page, event) {
  const target = event.target instanceof Element ? event.target : null;
  const element = target && target.closest(".ms-dataset-box");
  if (!element || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "Enter" || event.key === " ") {
    event.preventDefault();
    choose(page, element.dataset.node);
    return;
  }
  if (!/^(Arrow(Left|Right|Up|Down)|Home|End)$/.test(event.key)) return;
  event.preventDefault();
  const next = beside(element, event.key);
  if (!next) return;
  element.setAttribute("tabindex", "-1");
  next.setAttribute("tabindex", "0");
  focusBox(page, next.dataset.node);
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  const target = event.target instanceof Element ? event.target : null;
  const root = document.querySelector(".ms-shell .ms-dataset") || (target && target.closest(".ms-dataset"));
  const page = root && pages.get(root.id);
  if (!page || !page.catalogue || !page.catalogue.pipelines.length) return;
  if (event.key === "Escape") {
    if (get(page, "full")) put(page, "full", "");
    else if (get(page, "node") && !(target && target.closest("input, summary, .ms-panel"))) choose(page, "");
    return;
  }
  if (target && target.closest("input, select, textarea, summary")) return;
  const name = { f: "full", "+": "larger", "-": "smaller", 0: "fit" }[event.key];
  if (!name) return;
  event.preventDefault();
  act(page, name, target && target.closest(".ms-dataset-card"));
});

// Called by Dash ----------------------------------------------------------------------------------------------------

Object.assign(functionsOf("mindscope_dataset"), {
  /**
   * @param {Wire.Query | null} state
   * @param {number | null} columns
   * @param {Wire.Query | null} now
   * @param {string} rootId
   */
  chosen(state, columns, now, rootId) {
    const page = pageOf(rootId);
    if (!page || !(columns || page.columns)) return noUpdate();
    /** @type {Wire.Query} */
    const wanted = { columns: [String(columns || page.columns)] };
    if (state && state.run) wanted.run = state.run;
    return same(wanted, now) ? noUpdate() : wanted;
  },

  /**
   * @param {Graphs.PlainHtml[] | null} data
   * @param {string} rootId
   */
  panel(data, rootId) {
    const page = data && pageOf(rootId);
    if (page) showPlainHtml(page.find(".ms-dataset-panel"), data);
  },

  /**
   * @param {Graphs.PlainHtml[] | null} data
   * @param {string} rootId
   */
  differences(data, rootId) {
    const page = data && pageOf(rootId);
    if (page) showPlainHtml(page.find(".ms-dataset-differences"), data);
  },

  /**
   * @param {Wire.Query | null} state
   * @param {Graphs.DatasetCatalogue | null} catalogue
   * @param {Wire.Query | null} now
   * @param {string} rootId
   */
  plan(state, catalogue, now, rootId) {
    const page = pageOf(rootId);
    if (!page || !catalogue) return noUpdate();
    page.state = state || {};
    page.catalogue = catalogue;
    showState(page);
    draw(page);
    for (const section of page.root.querySelectorAll(".ms-dataset-card")) {
      section.classList.toggle("ms-full", section.dataset.mark === get(page, "full"));
    }
    resize(page);
    mark(page);
    reveal(page);
    if (!catalogue.pipelines.length) return noUpdate();
    /** @type {Wire.Query} */
    const ask = { digest: [catalogue.digest] };
    if (page.state.run) ask.run = page.state.run;
    if (get(page, "node")) ask.node = [get(page, "node")];
    if (get(page, "rows")) ask.rows = [get(page, "rows")];
    return same(ask, now) ? noUpdate() : ask;
  },
});

new MutationObserver(() => {
  for (const page of pages.values()) {
    if (!page.catalogue || !page.root.isConnected) continue;
    draw(page);
    resize(page);
    mark(page);
  }
}).observe(document.documentElement, { attributes: true, attributeFilter: ["lang"] });
