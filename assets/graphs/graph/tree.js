// The tree of scopes beside the canvas.

import { iconButton, make, words } from "../../kit/elements.js";
import { count } from "../../kit/units.js";
import { setLabel } from "../../kit/i18n.js";
import { alsoUsed } from "../lettering.js";
import * as view from "../view.js";

/**
 * Draw the tree of scopes.
 * @param {Graphs.Page} page
 */
export function drawTree(page) {
  const lines = page.drawing.meta.tree.map(([name, depth, kind, label, many, members, opened, mark, also]) => {
    const arrow = iconButton(opened ? "down" : "right", opened ? "graph.close" : "graph.open", "");
    arrow.removeAttribute("data-act");
    arrow.dataset.toggle = name;
    arrow.setAttribute("aria-expanded", String(opened));
    const shown = members > 1 ? `${label} ×${count(members)}` : label;
    const dot = mark && mark !== "same" ? [make("span", `ms-graph-mark ms-graph-mark-${mark}`)] : [];
    const text = make(
      "button",
      "ms-graph-name",
      [...dot, make("span", "ms-cut ms-name", shown), make("span", "ms-muted ms-number", count(many))],
      { type: "button", "data-go": name, title: name.replace(/^[sk]:/, "") + (also ? `\n${alsoUsed(also)}` : "") },
    );
    const line = make("div", `ms-graph-branch ms-graph-branch-${kind}`, [arrow, text],
      { role: "treeitem", "aria-expanded": String(opened), "aria-level": String(depth + 1), "data-name": name });
    line.style.paddingLeft = `${Math.min(depth, 12) * 12}px`;
    return line;
  });
  const host = page.find(".ms-graph-tree");
  const focused = host.contains(document.activeElement) && document.activeElement.closest(".ms-graph-branch");
  const [name, toggle] = focused ? [focused.dataset.name, Boolean(document.activeElement.dataset.toggle)] : [null, false];
  const tree = make("div", "", lines, { role: "tree" });
  setLabel(tree, "aria-label", "graph.tree");
  host.replaceChildren(words("graph.tree", {}, "h4"), tree);
  const again = name && lines.find((line) => line.dataset.name === name);
  if (again) again.querySelector(toggle ? "[data-toggle]" : ".ms-graph-name").focus();
  markTree(page);
}

/** @param {Graphs.CanvasPage} page */
export function markTree(page) {
  const chosen = view.get(page, "node");
  for (const line of page.root.querySelectorAll(".ms-graph-branch")) {
    const on = line.dataset.name === chosen;
    if (on && line.getAttribute("aria-selected") !== "true") line.scrollIntoView({ block: "nearest" });
    line.setAttribute("aria-selected", String(on));
  }
}
