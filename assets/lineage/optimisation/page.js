// The optimisation page: table of settings, pairs of runs, saved files. Counterpart of layouts/lineage/optimisation.

import { coloursOf, handMark } from "../../kit/colours.js";
import { listDamage } from "../../kit/damage.js";
import { functionsOf, noUpdate, setProps } from "../../kit/dash.js";
import { icon, make, menu, words } from "../../kit/elements.js";
import * as files from "../../kit/files.js";
import { escapeMarkup } from "../../kit/markup.js";
import { count, percent } from "../../kit/units.js";
import { pagesOf } from "../../kit/grid.js";
import { inLanguage, language, setLabel, translate, writeText } from "../../kit/i18n.js";
import { nameElement, partsIn } from "../../kit/names.js";
import { keeper } from "../../kit/pages.js";
import { last, same } from "../../kit/state.js";
import { numbersOf } from "../../kit/typed_arrays.js";

const MEASURES = ["linear", "rank", "share"];
const RUNNING = ["waiting", "growing", "left"];
const TICK_MS = 700;
const SAYS_NOTHING = ["constant", "unique", "identifier"];
const ARROWS = { up: "↗", down: "↘", peak: "∩", valley: "∪" };
const EXPLAINS = 0.1;  // a forest of a lower R² does not decide the order
const nothing = () => noUpdate();

const { pageOf } = keeper((root) => /** @type {UndeclaredFields} */ ({
  sheet: null, runs: null, growth: null, drawing: null, act: "",
  plot: (card) => root.querySelector(`.ms-optimisation-${card} .js-plotly-plot`),
}), build);

// What is shown -----------------------------------------------------------------------------------------------------

function cut(text, longest) {
  return text.length <= longest ? text : `${text.slice(0, longest - 1)}…`;
}

function spoken(label) {
  return inLanguage(label);
}

function named(page, setting) {
  return spoken(page.sheet.settings[setting] || [setting, setting]);
}

function targetLabel(page) {
  return spoken(page.sheet.targets.find(({ name }) => name === page.sheet.target).label);
}

// The measure to sort by: as chosen, else the forest if it explains the result, else "" for the lower limits.
function measure(page) {
  const by = last(page.state, "by", "");
  if (MEASURES.includes(by)) return by;
  const { growth } = page;
  const grown = growth && growth.target === page.sheet.target && !RUNNING.includes(growth.state);
  return grown && growth.fit !== null && growth.fit >= EXPLAINS ? "share" : "";
}

function shares(page) {
  return page.growth && page.growth.target === page.sheet.target ? page.growth.shares : {};
}

// [value, low, high] of a measure in a row, or null.
function strength(page, row, by) {
  const found = by === "share" ? shares(page)[row.setting] : row[by];
  return found && found[0] !== null ? found : null;
}

// Strengths are sorted by their lower limit, as a high value of few runs says little; shares by their value.
function size(page, row, by) {
  if (row.reason) return -3;
  if (!by) return Math.max(size(page, row, "linear"), size(page, row, "rank"));
  const found = strength(page, row, by);
  if (!found) return -2;
  return by === "share" ? found[0] : found[1] === null ? found[0] - 1.5 : found[1];
}

function sorted(page) {
  const by = measure(page);
  const sizes = page.sheet.rows.map((row, i) => [row, size(page, row, by), strength(page, row, by || "linear"), i]);
  const value = (found) => (found ? found[0] : -1);
  return sizes.sort((a, b) => b[1] - a[1] || value(b[2]) - value(a[2]) || a[3] - b[3]).map(([row]) => row);
}

function chosenSetting(page) {
  const asked = last(page.state, "setting", "");
  if (page.sheet.rows.some(({ setting }) => setting === asked)) return asked;
  return page.sheet.rows.length ? page.sheet.rows[0].setting : "";
}

// Controls ----------------------------------------------------------------------------------------------------------

function build(page) {
  page.target = make("select", "ms-input", [], { "data-control": "target" });
  page.target.addEventListener("change", () => page.change({ target: [page.target.value] }));
  page.countLabel = make("span", "t ms-optimisation-count");
  page.find(".ms-optimisation-bar").append(
    make("label", "ms-field", [words("optimisation.target", {}, "span", "ms-field-name"), page.target]), page.countLabel,
  );
  saving(page, "importance", ["png", "svg", "csv"]);
  saving(page, "spread", ["png", "svg"]);
  saving(page, "over", ["png", "svg", "csv"]);
  page.log = make("button", "ms-button ms-button-small", words("optimisation.log"), { type: "button", "data-act": "log" });
  setLabel(page.log, "title", "optimisation.log_tip");
  page.find(".ms-optimisation-over .ms-card-tools").prepend(page.log);
  page.root.addEventListener("click", (event) => {
    if (!(event.target instanceof Element)) return;
    const pressed = event.target.closest("[data-act]");
    if (pressed) acts[pressed.dataset.act](page, pressed);
    else choose(page, event.target.closest("tr[data-setting]"));
  });
  page.find(".ms-optimisation-settings").addEventListener("keydown", (event) => key(page, event));
}

function saving(page, card, kinds) {
  const summary = make("summary", "ms-button ms-button-icon", icon("download"));
  for (const attribute of ["title", "aria-label"]) setLabel(summary, attribute, "optimisation.save");
  const items = kinds.map((kind) => make("button", "ms-menu-item", words(`optimisation.save.${kind}`),
    { type: "button", "data-act": "save", "data-card": card, "data-kind": kind }));
  page.find(`.ms-optimisation-${card} .ms-card-tools`).append(menu(summary, items));
}

const acts = {
  log: (page) => page.change({ log: [page.drawing.figure.layout.meta.log ? "0" : "1"] }),
  by: (page, pressed) => page.change({ by: pressed.dataset.by === last(page.state, "by", "") ? [] : [pressed.dataset.by] }),
  rest: (page) => page.change({ rest: last(page.state, "rest", "") === "1" ? [] : ["1"] }),
  stop: (page) => act(page, "stop"),
  again: (page) => act(page, "again"),
  save: (page, pressed) => save(page, pressed.dataset.card, pressed.dataset.kind),
};

// An action on the forest is sent with one request.
function act(page, name) {
  page.act = name;
  setProps(page.store("growing"), { data: growing(page) });
}

function choose(page, row) {
  if (row) page.change({ setting: [row.dataset.setting], log: [] });
}

function key(page, event) {
  const row = event.target.closest("tr[data-setting]");
  if (!row || event.target !== row) return;
  if (event.key === "Enter" || event.key === " ") choose(page, row);
  else if (event.key === "ArrowDown" && row.nextElementSibling) row.nextElementSibling.focus();
  else if (event.key === "ArrowUp" && row.previousElementSibling) row.previousElementSibling.focus();
  else return;
  event.preventDefault();
}

function furnish(page) {
  const { sheet } = page;
  const none = sheet.damage.length ? "damaged" : "none";
  const name = sheet.target ? "" : sheet.chosen || !sheet.total ? none : "no-runs";
  listDamage(page.root, sheet.damage);
  for (const element of page.root.querySelectorAll("[data-state]")) element.hidden = element.dataset.state !== name;
  page.find(".ms-optimisation-body").hidden = name !== "";
  if (name) return;
  const shape = JSON.stringify([sheet.targets, language()]);
  if (shape !== page.listed) {
    page.listed = shape;
    page.target.replaceChildren(
      ...sheet.targets.map((one) => make("option", "", cut(spoken(one.label), 80), { value: one.name })),
    );
  }
  page.target.value = sheet.target;
  const key = sheet.jobs < sheet.chosen ? "count_ranks" : sheet.chosen === sheet.total ? "count" : "count_chosen";
  writeText(page.countLabel, `optimisation.${key}`, {
    jobs: count(sheet.jobs),
    n: count(sheet.runs),
    chosen: count(sheet.chosen),
    total: count(sheet.total),
  });
  const [least, middle, most] = sheet.summary;
  const spread = { runs: count(sheet.runs), least, middle, most };
  page.find(".ms-optimisation-spread .ms-optimisation-told").replaceChildren(words("optimisation.summary", spread));
  table(page);
  title(page);
}

// The table of settings ---------------------------------------------------------------------------------------------

function table(page) {
  const by = measure(page);
  const shown = [page.sheet.stamp, by, chosenSetting(page), language(), page.growth, shapeOf(page, null), page.state.rest];
  if (same(shown, page.shown)) return;
  page.shown = shown;
  const box = page.find(".ms-optimisation-settings");
  const focused = document.activeElement && box.contains(document.activeElement) ? document.activeElement : null;
  const header = make("tr", "", [
    make("th", "", words("optimisation.setting"), { scope: "col" }),
    ...MEASURES.map((name) => head(name, by)),
  ]);
  const rows = sorted(page);
  const few = rows.filter((row) => !SAYS_NOTHING.includes(row.reason) || row.setting === chosenSetting(page));
  const rest = rows.filter((row) => !few.includes(row));
  const parts = [make("thead", "", header), make("tbody", "", few.map((row) => line(page, row)))];
  if (rest.length) parts.push(...folded(page, rest));
  const built = make("table", "ms-optimisation-table", parts);
  setLabel(built, "aria-label", "optimisation.importance");
  box.replaceChildren(built);
  if (focused) refocus(box, focused.dataset);
  note(page);
  forest(page);
}

// Settings that cannot be related to a result, below a button that shows them.
function folded(page, rows) {
  const open = last(page.state, "rest", "") === "1";
  const press = make("button", "ms-button ms-button-small", words(open ? "optimisation.less" : "optimisation.rest", {
    n: count(rows.length),
    same: count(rows.filter((row) => row.reason === "constant").length),
    own: count(rows.filter((row) => row.reason !== "constant").length),
  }), { type: "button", "data-act": "rest", "aria-expanded": String(open) });
  const button = make("tr", "", make("td", "ms-optimisation-rest", press, { colspan: "4" }));
  const body = make("tbody", "", rows.map((row) => line(page, row)));
  body.hidden = !open;
  return [make("tbody", "", button), body];
}

// The direction of a setting: that of the curve on screen, whatever its axis, or of the curve that would be drawn.
function shapeOf(page, row) {
  const { drawing } = page;
  const own = drawing && drawing.figure && drawing.target === page.sheet.target && (!row || drawing.setting === row.setting);
  return own ? drawing.figure.layout.meta.shape : row ? row.shape : "";
}

function refocus(box, { setting, by }) {
  const again = Array.from(box.querySelectorAll("[data-setting], [data-by]"))
    .find((one) => one.dataset.setting === setting && one.dataset.by === by);
  if (again) again.focus();
}

function head(name, by) {
  const press = make("button", "ms-optimisation-by", [words(`optimisation.${name}`)], {
    type: "button",
    "data-act": "by",
    "data-by": name,
  });
  setLabel(press, "title", `optimisation.${name}_tip`);
  return make("th", "", press, { scope: "col", "aria-sort": name === by ? "descending" : "none" });
}

function line(page, row) {
  const chosen = row.setting === chosenSetting(page);
  const parts = [make("span", "ms-cut", cut(named(page, row.setting), 200), { title: cut(row.setting, 400) })];
  if (row.text && row.levels > 1 && row.reason !== "unique") {
    parts.push(words("optimisation.levels", { n: row.levels }, "span", "ms-badge"));
  }
  if (row.runs < page.sheet.runs && row.reason !== "few") {
    parts.push(words("optimisation.of_runs", { n: count(row.runs) }, "span", "ms-badge"));
  }
  if (row.for.length) {
    const others = row.for.map((name) => cut(named(page, name), 40));
    const key = others.length > 1 ? "optimisation.for_more" : "optimisation.for";
    const badge = words(key, { other: others[0], n: count(others.length - 1) }, "span", "ms-badge");
    setLabel(badge, "title", "optimisation.for_tip", { names: others.slice(0, 20).join(", ") });
    parts.push(badge);
  }
  if (row.strength !== null) {
    const other = { other: cut(named(page, row.with), 40), strength: row.strength.toFixed(2) };
    const near = words("optimisation.near", other, "span", "ms-badge ms-badge-accent");
    setLabel(near, "title", "optimisation.near_tip", other);
    parts.push(near);
  }
  const name = make("th", "", make("div", "ms-optimisation-name", parts), { scope: "row" });
  const cells = row.reason
    ? [
        make(
          "td",
          "ms-optimisation-reason",
          words(`optimisation.reason.${row.reason}`, { n: count(row.runs), other: cut(named(page, row.with), 60) }),
          { colspan: "3" },
        ),
      ]
    : MEASURES.map((by) => bar(page, row, by));
  return make("tr", row.reason ? "ms-optimisation-quiet" : "", [name, ...cells], {
    "data-setting": row.setting,
    tabindex: "0",
    "aria-selected": String(chosen),
  });
}

function bar(page, row, by) {
  const found = strength(page, row, by);
  const share = by === "share";
  if (!found) {
    return make("td", "ms-optimisation-cell", !share && row.eta ? words("optimisation.no_order", {}, "span", "ms-muted") : []);
  }
  const [value, low, high] = found;
  const at = (part) => `${Math.min(100, Math.max(0, part * 100)).toFixed(2)}%`;
  const fill = make("span", `ms-optimisation-fill ms-optimisation-${by}`);
  fill.style.width = at(value);
  const parts = [fill];
  if (low !== null && high !== null) {
    const whisker = make("span", "ms-optimisation-whisker");
    whisker.style.left = at(low);
    whisker.style.width = `max(1px, ${at(Math.min(1, high) - Math.max(0, low))})`;
    parts.push(whisker);
  }
  const text = share ? percent(value) : value.toFixed(2);
  const shape = by === "rank" ? shapeOf(page, row) : "";
  const number = make("span", "ms-optimisation-value", [
    by === "linear" && row.eta ? make("span", "ms-muted", "η ") : "",
    text,
  ]);
  const arrow = make("span", "ms-optimisation-sign", ARROWS[shape] || "", shape ? { role: "img" } : { "aria-hidden": "true" });
  if (shape) for (const name of ["title", "aria-label"]) setLabel(arrow, name, `optimisation.shape.${shape}`);
  const cell = make("td", "ms-optimisation-cell", make("div", "ms-optimisation-measure", [
    number, arrow, make("span", "ms-optimisation-track", parts),
  ]));
  const ends
    = low === null
      ? { low: "–", high: "–" }
      : {
          low: share ? percent(low) : low.toFixed(3),
          high: share ? percent(high) : high.toFixed(3),
        };
  setLabel(cell, "title", share ? "optimisation.middle" : "optimisation.interval", {
    value: share ? text : value.toFixed(4),
    ...ends,
  });
  return cell;
}

function note(page) {
  const box = page.find(".ms-optimisation-note");
  const { runs } = page.sheet;
  const bare = page.sheet.rows.every((row) => row.reason);
  box.replaceChildren(
    words(
      !page.sheet.rows.length
        ? "optimisation.no_settings"
        : runs < 3
          ? "optimisation.too_few"
          : bare
            ? "optimisation.no_number"
            : "optimisation.association",
      { n: count(runs) },
    ),
  );
  if (runs < 3 || bare || last(page.state, "by", "")) return;
  const forest = measure(page) === "share";
  const fit = forest ? page.growth.fit.toFixed(2) : "";
  box.append(" ", words(forest ? "optimisation.by_forest" : "optimisation.by_low", { fit }));
}

function forest(page) {
  const box = page.find(".ms-optimisation-grown");
  const growth = page.growth && page.growth.target === page.sheet.target ? page.growth : null;
  box.replaceChildren();
  if (!growth) return;
  if (growth.state === "missing") {
    box.append(words("optimisation.missing"), make("code", "ms-mono", "pip install mindscope[importance]"));
    return;
  }
  if (growth.reason) {
    box.append(words(`optimisation.forest_${growth.reason}`));
    return;
  }
  const running = RUNNING.includes(growth.state);
  const state = growth.state === "left" ? "waiting" : growth.state;
  const key = `optimisation.${state}`;
  box.append(words(key, { n: growth.done, total: growth.total, text: growth.text }));
  if (growth.fit !== null) {
    const fit = words(growth.fit > 0.05 ? "optimisation.fit" : "optimisation.no_fit", { fit: growth.fit.toFixed(2) });
    setLabel(fit, "title", "optimisation.fit_tip");
    box.append(fit);
  }
  if (running) {
    const shares = { max: String(growth.total), value: String(growth.done) };
    const progress = make("progress", "ms-optimisation-progress", [], shares);
    setLabel(progress, "aria-label", "optimisation.share");
    box.append(progress);
  }
  const name = running ? "stop" : "again";
  box.append(make("button", "ms-button ms-button-small", words(`optimisation.${name}`), { type: "button", "data-act": name }));
}

// The chart of one setting, and its pairs ----------------------------------------------------------------------------

function title(page) {
  const head = page.find(".ms-optimisation-over .ms-card-title");
  const setting = chosenSetting(page);
  const names = { target: cut(targetLabel(page), 60), setting: cut(named(page, setting), 60) };
  head.replaceChildren(words(setting ? "optimisation.over" : "optimisation.over_none", names));
  page.find(".ms-optimisation-nearest .ms-card-title").replaceChildren(words("optimisation.pairs_of", names));
}

function drawSummary(page) {
  const { drawing } = page;
  const summary = page.find(".ms-optimisation-over .ms-optimisation-told");
  const meta = drawing.figure && drawing.figure.layout.meta;
  page.log.hidden = !meta || !meta.logs;
  page.log.setAttribute("aria-pressed", String(Boolean(meta && meta.log)));
  const parts = [];
  if (meta) {
    parts.push(words("optimisation.drawn", { n: count(meta.runs) }));
    if (meta.best) {
      const [at, low, high, end] = meta.best;
      const key = end < 0 ? "optimisation.best_low" : end > 0 ? "optimisation.best_high" : "optimisation.best";
      parts.push(words(key, { at, low, high }, "span", "ms-optimisation-best"));
    }
    if (meta.slope) parts.push(words(meta.log ? "optimisation.per_decade" : "optimisation.per_unit", { slope: meta.slope }));
    if (meta.left) parts.push(words("optimisation.left", { n: count(meta.left) }));
  }
  summary.replaceChildren(...parts);
}

function runCell(page, key, parts) {
  const row = page.runs && page.runs.rows.find(({ members }) => members.includes(key));
  const dot = make("span", "ms-dot");
  if (row) dot.style.background = coloursOf(page.state, page.runs.rows).get(key);
  const [first] = row ? pagesOf({ key, tags: row.tags }) : [];
  const name = first
    ? make("a", "ms-cut ms-run-name", nameElement(parts(key)), {
        href: first.href, "data-page": first.page, "data-run": key, title: key,
      })
    : make("span", "ms-cut", nameElement(parts(key)), { title: key });
  return make("td", "", make("span", "ms-run", [dot, name]));
}

function pairs(page) {
  const { drawing } = page;
  const box = page.find(".ms-optimisation-pairs");
  const summary = page.find(".ms-optimisation-nearest .ms-optimisation-told");
  summary.replaceChildren();
  if (!drawing.pairs.length) {
    box.replaceChildren(words("optimisation.no_pairs", {}, "p", "ms-optimisation-empty"));
    return;
  }
  const also = drawing.also.map(spoken);
  if (also.length) summary.append(words("optimisation.also", { n: also.length, names: cut(also.join(", "), 200) }));
  else summary.append(words("optimisation.alone", { n: count(drawing.pairs.length), total: count(drawing.total) }));
  summary.title = also.join(", ");
  const column = (key, values = {}, kind = "") => make("th", kind, words(key, values), { scope: "col" });
  const setting = { name: cut(named(page, drawing.setting), 24) };
  const result = { name: cut(targetLabel(page), 24) };
  const header = make("tr", "", [
    column("optimisation.first"),
    column("optimisation.named", setting, "ms-number"),
    column("optimisation.named", result, "ms-number"),
    column("optimisation.second"),
    column("optimisation.named", setting, "ms-number"),
    column("optimisation.named", result, "ms-number"),
    column("optimisation.difference", {}, "ms-number"),
    make("th", ""),
  ]);
  const number = (text) => make("td", "ms-number ms-optimisation-cut", make("span", "ms-cut", text, { title: text }));
  const parts = partsIn(drawing.pairs.flatMap((pair) => pair.runs.map((name) => ({ name }))));
  const rows = drawing.pairs.map((pair) => make("tr", "", [
    runCell(page, pair.runs[0], parts), number(pair.values[0]), number(pair.results[0]),
    runCell(page, pair.runs[1], parts), number(pair.values[1]), number(pair.results[1]), number(pair.difference),
    both(page, pair),
  ]));
  box.replaceChildren(make("table", "ms-optimisation-table", [make("thead", "", header), make("tbody", "", rows)]));
}

// Link to the two runs page, if there is a menu.
function both(page, pair) {
  const menuLink = document.querySelector('.ms-menu-link[data-page="two_runs"]');
  if (!menuLink) return make("td", "");
  const query = new URLSearchParams({ one: pair.runs[0], other: pair.runs[1] });
  const link = make("a", "ms-button ms-button-icon", icon("compare"), {
    href: `${menuLink.getAttribute("href")}?${query}`, "data-page": "two_runs", "data-query": String(query),
  });
  for (const name of ["title", "aria-label"]) setLabel(link, name, "optimisation.both");
  return make("td", "", link);
}

// Plots -------------------------------------------------------------------------------------------------------------

// Apply colours of the theme that css cannot set.
function dressed(page, figure, titles) {
  const style = window.getComputedStyle(page.root);
  const colour = (name) => style.getPropertyValue(name).trim();
  const font = { family: colour("--ms-font"), color: colour("--ms-text"), size: 12 };
  const layout = {
    ...figure.layout,
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    font: { ...font, color: colour("--ms-muted"), size: 11 },
    hoverlabel: { bgcolor: colour("--ms-raised"), bordercolor: colour("--ms-line"), font, align: "left" },
  };
  for (const [axis, text] of Object.entries(titles)) {
    layout[axis] = { ...layout[axis], title: { text: escapeMarkup(cut(text, 60)), standoff: 6, font: { size: 12 } } };
  }
  return { data: figure.data, layout };
}

function save(page, card, kind) {
  const name = files.fileName(
    card === "over" ? `${page.sheet.target}_${page.drawing.setting}` : `${page.sheet.target}_${card}`,
    "target",
  );
  if (kind === "csv") files.saveCsv(card === "over" ? points(page) : strengths(page), name);
  else if (card === "importance") {
    files.saveImage(bars(page), page.find(".ms-optimisation-importance"), kind, name, {
      clientWidth: 820,
      clientHeight: 90 + 24 * numbered(page).length,
    });
  } else files.saveImage(page.plot(card), page.plot(card), kind, name);
}

function strengths(page) {
  const ends = (name) => [name, `${name}_low`, `${name}_high`];
  const header = [
    "setting",
    "kind",
    "levels",
    "runs",
    ...ends("linear"),
    ...ends("monotonic"),
    ...ends("forest"),
    "shape",
    "reason",
    "with",
    "with_strength",
  ];
  return [header, ...sorted(page).map((row) => [
    row.setting, row.text ? "categorical" : "numeric", row.levels, row.runs,
    ...row.linear, ...row.rank, ...(shares(page)[row.setting] || ["", "", ""]), row.shape, row.reason, row.with, row.strength,
  ])];
}

function points(page) {
  const trace = page.drawing.figure.data.find(({ meta }) => meta.role === "runs");
  const plot = page.plot("over").data.find(({ meta }) => meta && meta.role === "runs");
  const value = (text) =>
    text
      .slice(text.indexOf("<br>") + 4)
      .replace(/&lt;/g, "<")
      .replace(/&gt;/g, ">")
      .replace(/&amp;/g, "&");
  return [["run", page.drawing.setting, page.drawing.target],
    ...trace.customdata.map((run, i) => [run, value(trace.text[i]), Array.from(numbersOf(plot.y))[i]])];
}

function numbered(page) {
  return sorted(page).filter((row) => strength(page, row, measure(page) || "linear"));
}

// The bars of the table as a figure, for image files.
function bars(page) {
  const by = measure(page) || "linear";
  const rows = numbered(page);
  const found = rows.map((row) => strength(page, row, by));
  const names = rows.map((row) => escapeMarkup(cut(named(page, row.setting), 40)));
  const data = [{
    type: "bar", orientation: "h", x: found.map(([value]) => value), y: rows.map((_row, i) => i), marker: { color: "#4e7fd6" },
    error_x: { type: "data", symmetric: false, color: "#8b95a1", thickness: 1.5, width: 3,
      array: found.map(([value, , high]) => (high === null ? 0 : Math.max(0, high - value))),
      arrayminus: found.map(([value, low]) => (low === null ? 0 : Math.max(0, value - low))) },
  }];
  const layout = {
    margin: { l: 200, r: 24, t: 36, b: 32 },
    title: { text: escapeMarkup(`${targetLabel(page)}: ${translate(`optimisation.${by}`)}`), font: { size: 13 }, x: 0.02 },
    xaxis: { range: [0, 1] },
    yaxis: { autorange: "reversed", tickvals: rows.map((_row, i) => i), ticktext: names, automargin: true },
  };
  return { data, layout };
}

// Callbacks ---------------------------------------------------------------------------------------------------------

function part(page, keys) {
  return Object.fromEntries(keys.filter((name) => page.state[name]).map((name) => [name, page.state[name]]));
}

function growing(page) {
  const ask = { ...part(page, ["run"]), target: [page.sheet.target], mark: [page.sheet.stamp] };
  return page.act ? { ...ask, act: [page.act] } : ask;
}

Object.assign(functionsOf("mindscope_optimisation"), {
  chosen(state, known) {
    const next = {};
    for (const key of ["run", "target"]) if (state && state[key]) next[key] = state[key];
    return same(next, known) ? nothing() : next;
  },

  plan(state, sheet, runs, _prefs, ask, grows, rootId) {
    const page = pageOf(rootId);
    if (!page || !sheet) return [nothing(), nothing()];
    Object.assign(page, { state: state || {}, sheet, runs });
    furnish(page);
    if (!sheet.target) return [nothing(), nothing()];
    /** @type {Wire.Query} */
    const next = { ...part(page, ["run", "log"]), target: [sheet.target], setting: [chosenSetting(page)], mark: [sheet.stamp] };
    if (runs) next.hand = [handMark(runs.rows)];
    const grow = growing(page);
    return [same(next, ask) ? nothing() : next, same(grow, grows) ? nothing() : grow];
  },

  distribution(sheet, _prefs, rootId) {
    const page = pageOf(rootId);
    if (!page || !sheet || !sheet.target) return nothing();
    page.find(".ms-optimisation-spread .ms-skeleton").hidden = true;
    return dressed(page, sheet.figure, {});
  },

  over(drawing, _prefs, rootId) {
    const page = pageOf(rootId);
    if (!page || !drawing || !page.sheet || !page.sheet.target) return nothing();
    page.drawing = drawing;
    page.find(".ms-optimisation-over .ms-skeleton").hidden = true;
    drawSummary(page);
    table(page);
    pairs(page);
    if (!drawing.figure) {
      return dressed(page, { data: [], layout: { xaxis: { visible: false }, yaxis: { visible: false } } }, {});
    }
    return dressed(page, drawing.figure, { xaxis: named(page, drawing.setting), yaxis: targetLabel(page) });
  },

  // Ask again some time after an answer; at fixed intervals a slow answer would never be shown.
  grown(growth, rootId) {
    const page = pageOf(rootId);
    if (!page || !page.sheet || !growth) return;
    if (growth.act && growth.act === page.act) {
      page.act = "";
      window.setTimeout(() => {
        if (page.root.isConnected) setProps(page.store("growing"), { data: growing(page) });
      }, 0);
    }
    page.growth = growth;
    if (page.sheet.target) table(page);
    window.clearTimeout(page.timer);
    if (!RUNNING.includes(growth.state) && growth.target === page.sheet.target) return;
    page.timer = window.setTimeout(() => {
      if (document.getElementById(rootId) === page.root) setProps(page.store("tick"), { data: Date.now() });
    }, TICK_MS);
  },
});
