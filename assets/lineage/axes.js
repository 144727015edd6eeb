// The figure of parallel axes: its width, names and brushes.

import { setProps } from "../kit/dash.js";
import { translate } from "../kit/i18n.js";
import { brushes, stretches } from "./brushes.js";
import { shortOf } from "./columns.js";

export const AXIS_WIDTH = 92;
const KEY_WIDTH = 104;
const FEWEST_AXES = 3;
const WIDTH_STEP = 16;

/**
 * Note the width of the plot: the number of axes by default and the lengths of their titles depend on it.
 * @param {Lineage.Page} page
 */
export function measure(page) {
  const width = page.find(".ms-lineage-scroll").clientWidth;
  const stepped = Math.floor(width / WIDTH_STEP) * WIDTH_STEP;
  if (!width || stepped === page.stepped) return;
  const beside = page.find(".ms-lineage-plot").clientWidth - KEY_WIDTH;  // also before there is a key
  Object.assign(page, { stepped, width, room: Math.max(FEWEST_AXES, Math.floor(beside / AXIS_WIDTH)) });
  window.setTimeout(() => { if (page.root.isConnected) setProps(page.store("wide"), { data: stepped }); }, 0);
}

/**
 * The figure with names in the current language.
 * @param {Lineage.Page} page
 * @returns {Lineage.Figure}
 */
export function dressed(page) {
  const { data: [trace], layout } = page.figure;
  const dimensions = trace.dimensions.map((dimension, i) => {
    const axis = layout.meta.axes[i];
    const ticktext = dimension.ticktext.map((text) =>
      text === "missing" && "missing" in axis.apart ? translate("lineage.apart.missing") : text,
    );
    const scale = axis.scale === "linear" ? "" : ` (${translate(`lineage.${axis.scale}`)})`;
    return { ...dimension, label: shortOf(page, axis.name), scale, ticktext };
  });
  return { data: [{ ...trace, dimensions }], layout };
}

/**
 * Stretches of axes that are brushed, by column.
 * @param {Lineage.Page} page
 */
export function brushed(page) {
  const wanted = brushes(page);
  return new Map(page.figure.layout.meta.axes.flatMap((axis) => {
    const brush = wanted.get(axis.name);
    return brush ? [/** @type {[string, Lineage.Stretch[]]} */([axis.name, stretches(axis, brush)])] : [];
  }));
}
