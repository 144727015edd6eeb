// What stands for controls in a page that is saved as a file: values of fields as text, and nothing in the place of buttons.

/** Class of what has the place of a removed control. */
export const GAP = "ms-gap";

// What browsers give buttons and links, and spans have not.
const LOOK = ["padding", "border", "background-color", "text-align", "color", "font", "letter-spacing", "text-decoration-line",
  "box-sizing"];
const ACTIONS = ".ms-button, .ms-switch, .ms-menu-item, .ms-skip, .ms-menu-rest, .ms-chip-more, .dash-button";
const STATED = "[aria-pressed=true], [aria-selected=true], [aria-checked=true], [aria-current]";

/**
 * Whether an element only does something. A button that is pressed says which choice is shown, and others hold what they show.
 * @param {HTMLElement} element
 */
export function isAction(element) {
  if (element.matches(STATED)) return false;
  const shows = (element.textContent || "").trim() || element.querySelector("svg, img, canvas, .ms-dot");
  return element.matches(ACTIONS) || !shows;
}

/**
 * @template {HTMLElement} E
 * @param {E} copy
 * @param {CSSStyleDeclaration} style
 */
export function withLook(copy, style) {
  for (const name of LOOK) copy.style.setProperty(name, style.getPropertyValue(name));
  copy.style.cursor = "auto";
  copy.style.display = style.display;
  return copy;
}

/**
 * An empty element of the size of a removed one, so that what is around it stays where it is; null where nothing is.
 * @param {HTMLElement} element
 * @param {CSSStyleDeclaration} style
 */
export function gap(element, style) {
  const [width, height] = [element.offsetWidth, element.offsetHeight];
  if (!width || !height || style.position === "absolute" || style.position === "fixed") return null;
  const copy = document.createElement("span");
  copy.className = GAP;
  copy.setAttribute("aria-hidden", "true");
  Object.assign(copy.style, {
    display: style.display.startsWith("inline") ? "inline-block" : "block", flex: "none", boxSizing: "border-box",
    width: `${width}px`, height: `${height}px`, margin: style.margin, alignSelf: style.alignSelf, order: style.order,
    verticalAlign: style.verticalAlign,
  });
  return copy;
}

/**
 * What a field says, as text in its box; null if it says nothing.
 * @param {HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement} field
 * @param {CSSStyleDeclaration} style
 */
export function fieldCopy(field, style) {
  if (field instanceof HTMLInputElement && ["checkbox", "radio", "range"].includes(field.type)) return stated(field, style);
  const text = field instanceof HTMLSelectElement ? field.selectedOptions[0]?.textContent : field.value;
  if (!text || ["hidden", "password", "file", "submit", "button"].includes(field.type)) return null;
  const copy = document.createElement("span");
  copy.className = field.className;
  copy.textContent = text;
  const label = field.getAttribute("aria-label");
  if (label) copy.setAttribute("aria-label", label);
  withLook(copy, style);
  const long = field instanceof HTMLTextAreaElement;
  Object.assign(copy.style, {
    display: style.display.startsWith("inline") ? "inline-block" : "block", boxSizing: "border-box", flex: style.flex,
    width: `${field.offsetWidth}px`, height: `${field.offsetHeight}px`, margin: style.margin, borderRadius: style.borderRadius,
    overflow: "hidden", whiteSpace: long ? "pre-wrap" : "pre", lineHeight: long ? style.lineHeight : `${field.clientHeight}px`,
    paddingTop: long ? style.paddingTop : "0", paddingBottom: "0", verticalAlign: style.verticalAlign,
  });
  return copy;
}

/**
 * A box or a slider that says its state and takes no other one.
 * @param {HTMLInputElement} field
 * @param {CSSStyleDeclaration} style
 */
function stated(field, style) {
  if (!field.offsetWidth || style.opacity === "0") return null;
  const copy = document.createElement("input");
  for (const name of ["type", "class", "min", "max", "step", "aria-label"]) {
    const value = field.getAttribute(name);
    if (value !== null) copy.setAttribute(name, value);
  }
  copy.setAttribute("disabled", "");
  copy.setAttribute("value", field.value);
  if (field.checked) copy.setAttribute("checked", "");
  Object.assign(copy.style, { width: style.width, height: style.height, margin: style.margin });
  return copy;
}
