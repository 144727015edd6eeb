// Shared by all AG Grids: theme, texts, and the cell with links to the pages of a run. Counterpart of
// layouts/kit/grid.py.

import { cellRenderers, gridFunctions } from "./ag_grid.js";
import { language, translate } from "./i18n.js";
import { follow, namesIn } from "./name_elements.js";
import { count } from "./units.js";

/**
 * @param {string} tag
 * @param {Record<string, unknown>} props
 * @param {...unknown} children
 */
const make = (tag, props, ...children) => window.React.createElement(tag, props, ...children);

gridFunctions.mindscopeTheme = (theme) =>
  theme.withParams({
    accentColor: "var(--ms-accent)",
    backgroundColor: "var(--ms-card)",
    borderColor: "var(--ms-line)",
    borderRadius: 6,
    browserColorScheme: "inherit",
    cellHorizontalPadding: 10,
    chromeBackgroundColor: "var(--ms-card)",
    checkboxBorderRadius: 3,
    columnBorder: false,
    fontFamily: "var(--ms-font)",
    fontSize: 13,
    foregroundColor: "var(--ms-text)",
    headerBackgroundColor: "var(--ms-card)",
    headerFontSize: 12,
    headerFontWeight: 500,
    headerTextColor: "var(--ms-muted)",
    iconSize: 14,
    menuBackgroundColor: "var(--ms-raised)",
    oddRowBackgroundColor: "var(--ms-card)",
    rowHoverColor: "var(--ms-hover)",
    selectedRowBackgroundColor: "transparent",
    wrapperBorder: false,
    wrapperBorderRadius: 0,
  });

gridFunctions.mindscopeLocale = (params) => {
  const key = `grid.${params.key}`;
  const found = translate(key);
  return found === key ? params.defaultValue : found;
};

// In either direction missing values come last, and NaN before them.
gridFunctions.mindscopeOrder = (a, b, _nodeA, _nodeB, descending) => {
  /** @param {unknown} value */
  const rank = (value) => (value === null || value === undefined ? 2 : Number.isNaN(value) ? 1 : 0);
  const difference = rank(a) - rank(b);
  if (difference !== 0) return descending ? -difference : difference;
  if (rank(a) !== 0) return 0;
  if (typeof a === "string") return a.localeCompare(b, undefined, { numeric: true });
  return a < b ? -1 : a > b ? 1 : 0;
};

/**
 * Pages of the menu that show data of a run; none without the shell.
 * @param {Pick<Wire.RunRow, "key" | "tags">} row
 */
export function pagesOf(row) {
  return Array.from(document.querySelectorAll(".ms-menu-link[data-needs]"), (link) => ({
    page: link.dataset.page,
    needs: /** @type {string} */ (link.dataset.needs).split(" ").filter(Boolean),
    icon: Array.from(link.querySelector(".ms-icon").classList).find((name) => name.startsWith("ms-icon-")),
    href: `${link.getAttribute("href")}?${new URLSearchParams({ run: row.key })}`,
    title: (link.querySelector(language() === "zh" ? ".zh" : ".en") || link).textContent,
  })).filter((link) => link.needs.some((kind) => row.tags[kind] > 0));
}

/**
 * The name of a row as the content of a cell, where what differs from the other rows stays when there is little room.
 * @param {{ name: string }[]} rows
 * @param {{ name: string }} row
 */
export function nameIn(rows, { name }) {
  const ref = (/** @type {HTMLElement | null} */ element) => {
    if (element) follow(element, namesIn(rows));
  };
  return make("bdi", { className: "ms-name", ref }, name);
}

cellRenderers.MindscopeText = ({ value, valueFormatted }) =>
  make("bdi", { className: "ms-name" }, valueFormatted ?? value ?? "");

/**
 * @param {Pick<Wire.RunRow, "key" | "name" | "tags">} row
 * @param {{ page: string, href: string, title: string }} page
 * @param {(label: string) => Record<string, unknown>} props
 * @param {...unknown} children
 */
export function linkTo(row, { page, href, title }, props, ...children) {
  const label = translate("grid.open_page", { page: title, name: row.name });
  return make("a", { key: page, href, "data-page": page, "data-run": row.key, title: label, ...props(label) }, ...children);
}

// Links to the pages of a run. Of more than `most`, if that is given, the rest is one link to the first page, with their
// number.
cellRenderers.MindscopeLinks = ({ data, most = Infinity }) => {
  const pages = pagesOf(data);
  const shown = pages.slice(0, most);
  const left = pages.slice(most);
  const className = "ms-button ms-button-icon";
  const links = shown.map((page) => linkTo(data, page, (label) => ({ className, "aria-label": label }),
    make("span", { className: `ms-icon ${page.icon}` })));
  const number = `+${count(left.length)}`;
  const more = [number, ...left.map(({ title }) => title)].join(", ");
  const rest = left.length
    ? [linkTo(data, shown[0], () => ({ key: "rest", className, title: more, "aria-label": more }), number)] : [];
  return make("span", { className: "ms-run ms-run-links" }, [...links, ...rest]);
};
