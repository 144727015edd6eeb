// The treemap of the memory in use, and the map of the pool. The server computes the position of every rectangle
// (layouts/profiles/memory/tiles.py, pool_card.py).

import { make, words } from "../../kit/elements.js";
import { setLabel, translate } from "../../kit/i18n.js";

const BEFORE = "\0before";
const REST = "\0rest";
const FRAME = "\0frame";
const MOVES = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
/** @param {number} value */
const percent = (value) => `${(100 * value).toFixed(3)}%`;

/**
 * A press on a tile chooses its group.
 * @param {Memory.Page} page
 */
export function drawTiles(page, { tiles, facts }, choose) {
  const host = page.find(".ms-memory-tiles");
  setLabel(host, "aria-label", "memory.tiles");
  host.setAttribute("role", "group");
  host.dataset.names = "";  // short names of tiles all differ
  host.hidden = !tiles.length;
  const focused = host.contains(document.activeElement) ? document.activeElement.dataset.key : null;
  host.replaceChildren(...tiles.map(([x, y, width, height, key, text, size, exact]) => {
    const named = key === BEFORE || key === REST;
    const still = named || key.startsWith(FRAME);
    const [word, values] = key === BEFORE ? ["memory.before", {}] : ["memory.rest", { n: text }];
    const name = named ? translate(word, values) : text || "–";
    const label = named ? words(word, values) : make("span", "ms-cut ms-name", name);
    const kind = key === BEFORE ? "before" : key === REST ? "rest" : still ? "frame" : "group";
    const pressed = still ? {} : { type: "button", "aria-pressed": String(facts.part === key) };
    const parts = [label, make("span", "ms-memory-tile-size", size.split(" · ").map((one) => make("span", "", one)))];
    const tile = make(still ? "div" : "button", `ms-memory-tile ms-memory-tile-${kind}`, parts, pressed);
    tile.title = `${still ? name : key || name}\n${size}\n${exact}`;
    tile.dataset.key = key;
    Object.assign(tile.style, { left: percent(x), top: percent(y), width: percent(width), height: percent(height) });
    if (!still) tile.addEventListener("click", () => choose(page, key));
    return tile;
  }));
  if (focused !== null) {
    const again = [...host.children].find((one) => one.dataset.key === focused);
    if (again) again.focus();
  }
  if (host.dataset.moves) return;
  host.dataset.moves = "1";
  host.addEventListener("keydown", (event) => move(host, event));
}

// Arrow keys lead to the nearest tile in a direction; sideways distance counts double.
function move(host, event) {
  const way = MOVES[event.key];
  const from = event.target instanceof Element && event.target.closest("button");
  if (!way || !from) return;
  event.preventDefault();
  event.stopPropagation();
  const middle = (tile) => [tile.offsetLeft + tile.offsetWidth / 2, tile.offsetTop + tile.offsetHeight / 2];
  const [x, y] = middle(from);
  let best = null;
  let least = Infinity;
  for (const tile of host.querySelectorAll("button")) {
    const [a, b] = middle(tile);
    const ahead = (a - x) * way[0] + (b - y) * way[1];
    if (ahead <= 0.5) continue;
    const far = ahead + 2 * Math.abs((a - x) * way[1] + (b - y) * way[0]);
    if (far < least) [best, least] = [tile, far];
  }
  if (best) best.focus();
}

/**
 * Rows of the pool from the lowest address on; a title names the block.
 * @param {Memory.Page} page
 */
export function drawPool(page, cells) {
  const host = page.find(".ms-memory-pool");
  setLabel(host, "aria-label", "memory.pool.tip");
  host.setAttribute("role", "img");
  if (!cells || !cells.length) {
    host.replaceChildren();
    return;
  }
  const rows = new Map();
  for (const [row, x, width, kind, title] of cells) {
    if (!rows.has(row)) rows.set(row, make("div", "ms-memory-pool-row"));
    const cell = make("span", `ms-memory-pool-cell ms-memory-pool-${kind}`, [], { title });
    Object.assign(cell.style, { left: percent(x), width: percent(width) });
    rows.get(row).append(cell);
  }
  const legend = ["used", "hole", "largest"].map((kind) => {
    const dot = make("span", `ms-memory-pool-dot ms-memory-pool-${kind}`);
    return make("span", "ms-memory-pool-key", [dot, words(`memory.pool.${kind}`)]);
  });
  const listed = [...rows.keys()].sort((a, b) => a - b).map((row) => rows.get(row));
  host.replaceChildren(...listed, make("div", "ms-memory-pool-legend", legend));
}
