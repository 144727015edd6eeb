// How heat maps are drawn: over the picture or alone, opacity, colours, scale. State: over=0, alpha (percent), colours,
// scale=own.

import { penOf } from "../../kit/canvases.js";
import { fillSelect, make, pressSegment, segments, select, words } from "../../kit/elements.js";
import { setLabel, translate } from "../../kit/i18n.js";
import { get } from "../explanations.js";
import { tableOf } from "../maps.js";

const FIRST = "purple";
const FULL = 100;

/** @param {Saliency.Page} page */
export function buildLook(page) {
  page.tables = JSON.parse(page.root.dataset.colours);
  const over = make("button", "ms-switch", [], { type: "button", role: "switch" });
  setLabel(over, "aria-label", "saliency.over");
  over.addEventListener("click", () => page.change({ over: get(page, "over") === "0" ? [] : ["0"] }));
  const range = make("input", "ms-slider", [], { type: "range", min: "0", max: String(FULL), step: "5" });
  setLabel(range, "aria-label", "saliency.opacity");
  range.addEventListener("input", () => page.change({ alpha: Number(range.value) === FULL ? [] : [range.value] }));
  const colours = select("saliency.colours", (name) => page.change({ colours: name === FIRST ? [] : [name] }));
  const ramp = make("canvas", "ms-saliency-ramp", [], { width: "256", height: "1", "aria-hidden": "true" });
  const scale = segments("saliency.scale", [["shared", "saliency.shared"], ["own", "saliency.own"]],
    (value) => page.change({ scale: value === "own" ? ["own"] : [] }));
  /**
   * @param {string} key
   * @param {HTMLButtonElement | HTMLInputElement} control
   */
  const field = (key, control) => make("label", "ms-field", [words(key, {}, "span", "ms-field-name"), control]);
  page.looks = { over, range, colours, ramp, scale };
  page.find(".ms-saliency-look").replaceChildren(
    field("saliency.over", over), field("saliency.opacity", range), colours, ramp, scale,
    make("p", "ms-saliency-unreadable ms-muted", [], { hidden: "" }),
  );
}

/** @param {Saliency.Page} page */
function nameOf(page) {
  const name = get(page, "colours", FIRST);
  return name in page.tables ? name : FIRST;
}

/**
 * What maps.js draws with; plain: without the table, to compare.
 * @param {Saliency.Page} page
 * @param {boolean} [plain]
 */
export function lookOf(page, plain = false) {
  const alpha = Number(get(page, "alpha", String(FULL)));
  const name = nameOf(page);
  const found = {
    over: get(page, "over") !== "0", own: get(page, "scale") === "own", name,
    opacity: Number.isFinite(alpha) ? Math.min(FULL, Math.max(0, alpha)) / FULL : 1,
  };
  return plain ? found : { ...found, table: tableFor(page, name) };
}

/**
 * @param {Saliency.Page} page
 * @param {string} name
 */
function tableFor(page, name) {
  return page.decoded[name] || (page.decoded[name] = tableOf(page.tables[name]));
}

/** @param {Saliency.Page} page */
export function drawLook(page) {
  const { over, range, colours, ramp, scale } = page.looks;
  const look = lookOf(page);
  over.setAttribute("aria-checked", String(look.over));
  if (document.activeElement !== range) range.value = String(Math.round(look.opacity * FULL));
  range.disabled = !look.over;
  fillSelect(colours, Object.keys(page.tables).map((name) => [name, translate(`saliency.colours.${name}`)]), look.name);
  pressSegment(scale, look.own ? "own" : "shared");
  const context = penOf(ramp);
  const image = context.createImageData(256, 1);
  image.data.set(look.table);
  for (let at = 3; at < image.data.length; at += 4) image.data[at] = 255;
  context.putImageData(image, 0, 0);
}
