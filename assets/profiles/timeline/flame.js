// The flame graph of a range: stacks merged by name, the outermost on top; a press enlarges one.

import { penOf } from "../../kit/canvases.js";
import { make, words } from "../../kit/elements.js";
import { count, percent } from "../../kit/units.js";
import { setLabel, writeText } from "../../kit/i18n.js";
import { duration } from "../axis.js";
import { FONT, fitted, ruler } from "./canvas.js";
import { fillOfName } from "./colours.js";

/**
 * @typedef {object} FlameLook
 * @property {Timeline.Palette} palette
 * @property {number} ratio
 * @property {(name: string) => void} find
 */

const ROW = 19;
const LEAST_PIXELS = 0.5;
const LEAST_LABEL = 28;

/**
 * Time (ns) of a stack, or of all for -1.
 * @param {Timeline.Flames} flames
 * @param {number} root
 */
function timeOf({ parent, total_ns: total }, root) {
  return root >= 0 ? total[root] : parent.reduce((all, of, row) => all + (of < 0 ? total[row] : 0), 0);
}

/**
 * Boxes { row, level, left, width } (left and width in shares of the whole) of the stacks below `root`; -1 for all.
 * @param {Timeline.Flames} found
 * @param {number} [root]
 */
export function boxesOf(found, root = -1) {
  const { parent, level, total_ns: total } = found;
  const sum = timeOf(found, root);
  if (!sum) return [];
  const next = new Map();
  const boxes = [];
  const known = new Map();
  const top = root >= 0 ? level[root] : 0;
  for (let row = Math.max(0, root); row < parent.length; row += 1) {
    const outer = row === root || (root < 0 && parent[row] < 0);
    if (!outer && !known.has(parent[row])) {
      if (root >= 0) break;
      continue;
    }
    const place = outer ? -1 : parent[row];
    const left = next.get(place) ?? (outer ? 0 : known.get(place));
    const width = total[row] / sum;
    next.set(place, left + width);
    known.set(row, left);
    boxes.push({ row, level: level[row] - top, left, width });
  }
  return boxes;
}

/**
 * The flame graph as parts of a panel. palette and ratio are those of the timeline; find(name) is called by a double click.
 * @param {Timeline.Flames} found
 * @param {FlameLook} look
 */
export function flameParts(found, { palette, ratio, find }) {
  if (!found.parent.length) return [words("timeline.range_none", {}, "p", "ms-muted")];
  const canvas = make("canvas", "ms-timeline-flame", [], { role: "img" });
  setLabel(canvas, "aria-label", "timeline.flame");
  const about = make("p", "ms-muted ms-timeline-flame-about");
  const all = make("button", "ms-button", words("timeline.flame_all"), { type: "button" });
  const host = make("div", "ms-timeline-flame-host", canvas);
  let root = -1;
  /** @type {Timeline.FlameBox[]} */
  let boxes = [];
  let sum = 1;

  function draw() {
    const width = host.clientWidth;
    if (!width) return;
    boxes = boxesOf(found, root).filter((box) => box.width * width >= LEAST_PIXELS);
    sum = timeOf(found, root);
    all.hidden = root < 0;
    const height = (Math.max(...boxes.map((box) => box.level)) + 1) * ROW;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    canvas.style.cssText = `width: ${width}px; height: ${height}px`;
    const context = penOf(canvas);
    context.scale(ratio, ratio);
    context.font = FONT;
    context.textBaseline = "middle";
    const widthOf = ruler(context);
    for (const box of boxes) {
      const [x, y, wide] = [box.left * width, box.level * ROW, box.width * width];
      context.fillStyle = palette.fills[fillOfName(found.name[box.row])];
      context.fillRect(x, y, Math.max(wide - 0.5, 0.5), ROW - 1);
      if (wide < LEAST_LABEL) continue;
      context.fillStyle = palette.text;
      context.fillText(fitted(found.name[box.row], wide - 8, widthOf), x + 4, y + ROW / 2);
    }
  }

  /** @param {PointerEvent | MouseEvent} event */
  const boxAt = (event) => {
    const place = canvas.getBoundingClientRect();
    const x = (event.clientX - place.left) / place.width;
    const level = Math.floor((event.clientY - place.top) / ROW);
    return boxes.find((box) => box.level === level && x >= box.left && x < box.left + box.width);
  };
  /** @param {Timeline.FlameBox | null | undefined} box */
  const tell = (box) => {
    if (!box) {
      const key = found.parent.length < found.total ? "timeline.flame_part" : "timeline.flame_n";
      writeText(about, key, { n: count(found.parent.length), total: count(found.total) });
      return;
    }
    const { row } = box;
    writeText(about, "timeline.flame_tip", {
      name: found.name[row], total: duration(found.total_ns[row]), self: duration(found.self_ns[row]),
      n: count(found.count[row]), share: percent(found.total_ns[row] / sum),
    });
  };
  canvas.addEventListener("pointermove", (event) => {
    const box = boxAt(event);
    canvas.style.cursor = box ? "pointer" : "";
    tell(box);
  });
  canvas.addEventListener("pointerleave", () => tell(null));
  canvas.addEventListener("click", (event) => {
    const box = boxAt(event);
    if (!box) return;
    root = box.row === root ? found.parent[root] : box.row;
    draw();
  });
  canvas.addEventListener("dblclick", (event) => {
    const box = boxAt(event);
    if (box) find(found.name[box.row]);
  });
  all.addEventListener("click", () => {
    root = -1;
    draw();
  });
  tell(null);
  new ResizeObserver(draw).observe(host);
  return [make("div", "ms-timeline-flame-head", [about, all]), host];
}
