// Going through a graph by keys, along its edges or from box to box. Boxes are { name, x, y }, links [name, name].

/**
 * The box after or before another one, row by row; undefined at the end, where the focus leaves the canvas.
 * @param {Graphs.NamedPoint[]} boxes
 * @param {string} name
 * @param {boolean} back
 */
export function nextBox(boxes, name, back) {
  const order = [...boxes].sort((a, b) => a.y - b.y || a.x - b.x);
  const at = order.findIndex((box) => box.name === name);
  return (order[at + (back ? -1 : 1)] || {}).name;
}

/**
 * The name of the box that is nearest to a place; undefined for none.
 * @param {Graphs.NamedPoint[]} boxes
 * @param {Graphs.Point} at
 */
export function middle(boxes, at) {
  /** @param {Graphs.NamedPoint} point */
  const far = ({ x, y }) => Math.hypot(x - at.x, y - at.y);
  if (!boxes.length) return undefined;
  return boxes.reduce((best, box) => (far(box) < far(best) ? box : best)).name;
}

/**
 * Where a key leads along links: { names, at }, the boxes to choose from and the place of the chosen one; null for none.
 * ArrowUp leads to what a box takes, ArrowDown to what it feeds, the nearest first; ArrowLeft and ArrowRight to the others of
 * the last step, before.
 * @param {(string | undefined)[][]} links
 * @param {Graphs.NamedPoint[]} boxes
 * @param {string} name
 * @param {string} key
 * @param {Graphs.Walk | null} before
 */
export function linked(links, boxes, name, key, before) {
  if (key === "ArrowLeft" || key === "ArrowRight") {
    if (!before || before.names[before.at] !== name || before.names.length < 2) return null;
    const many = before.names.length;
    return { names: before.names, at: (before.at + (key === "ArrowLeft" ? many - 1 : 1)) % many };
  }
  if (key !== "ArrowUp" && key !== "ArrowDown") return null;
  const [own, other] = key === "ArrowUp" ? [1, 0] : [0, 1];
  const ends = new Set(links.filter((link) => link[own] === name && link[other] !== name).map((link) => link[other]));
  const here = boxes.find((box) => box.name === name) || { x: 0, y: 0 };
  /** @param {Graphs.NamedPoint} box */
  const far = (box) => Math.hypot(box.x - here.x, box.y - here.y);
  const names = boxes.filter((box) => ends.has(box.name)).sort((a, b) => far(a) - far(b)).map((box) => box.name);
  return names.length ? { names, at: 0 } : null;
}
