// What stands for controls in a page that is saved as a file: values of fields as text, and nothing in the place of buttons.

/** Class of what has the place of a removed control. */
export const GAP = "ms-gap";

// What browsers give buttons and links, and spans have not.
const LOOK = ["padding", "border", "background-color", "text-align", "color", "font", "letter-spacing", "text-decoration-line",
  "box-sizing"];
const ACTIONS = ".ms-button, .ms-switch, .ms-menu-item, .ms-skip, .ms-only, .ms-graph-hint, .ms-graph-jump, .dash-button, "
  + "[role=tab], [role=switch], .ms-recording-tab";
const STATED = "[aria-pressed=true], [aria-selected=true], [aria-checked=true], [aria-current]";
const SELECT_PX = 4;  // that browsers leave before the text of a select
const DRAWN = "svg, img, canvas, .ms-dot";
const WORD = /[\p{L}\p{N}]/u;

/**
 * Whether an element only does something. A button that is pressed says which choice is shown, and others hold what they show.
 * @param {HTMLElement} element
 */
export function isAction(element) {
  if (element.matches(".ms-mark")) return false;
  const shows = WORD.test(element.textContent || "") || element.querySelector(DRAWN);
  return !shows || (element.matches(ACTIONS) && !element.matches(STATED));
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
  // The baseline of a button is that of its text; of a box that cuts its text it is the lower edge, unless the text is clipped.
  if (style.display === "inline-block" && style.overflow === "hidden") copy.style.overflow = "clip";
  return copy;
}

/**
 * Put the content of a copy as far down as that of a button, which is in its middle.
 * @param {HTMLElement} button
 * @param {HTMLElement} copy
 * @param {CSSStyleDeclaration} style
 */
export function centred(button, copy, style) {
  if (!/^(inline-)?block$/.test(style.display) || !button.offsetHeight) return;
  const range = document.createRange();
  range.selectNodeContents(button);
  const content = range.getBoundingClientRect();
  const line = parseFloat(style.lineHeight) || content.height;
  const leading = Math.max(0, Math.round(content.height / line) * line - content.height) / 2;  // of a line above its letters
  const above = content.top - leading - button.getBoundingClientRect().top - button.clientTop;
  if (above > parseFloat(style.paddingTop) + 1) Object.assign(copy.style, { paddingTop: `${above}px`, paddingBottom: "0" });
  copy.style.height = style.height;
}

/**
 * Whether a copy has nothing to see, as a box whose only field was removed.
 * @param {HTMLElement} copy
 */
export function isBare(copy) {
  return !(copy.textContent || "").trim() && !copy.querySelector(`${DRAWN}, input, [id^="ms-figure-"]`);
}

/**
 * An empty element of the size of a removed one, so that what is around it stays where it is; null where nothing is.
 * @param {HTMLElement} element
 * @param {CSSStyleDeclaration} style
 */
export function gap(element, style) {
  const { width, height } = element.getBoundingClientRect();
  if (!width || !height || style.position === "absolute" || style.position === "fixed") return null;
  const copy = document.createElement("span");
  copy.className = GAP;
  copy.setAttribute("aria-hidden", "true");
  Object.assign(copy.style, {
    display: style.display.startsWith("inline") ? "inline-block" : "block", flex: "none", boxSizing: "border-box",
    width: `${width}px`, height: `${height}px`, margin: style.margin, alignSelf: style.alignSelf, order: style.order,
    verticalAlign: style.verticalAlign === "baseline" ? "top" : style.verticalAlign,
  });
  return copy;
}

/**
 * What a field says, as text in its box; null if it says nothing.
 * @param {HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement} field
 * @param {CSSStyleDeclaration} style
 */
export function fieldCopy(field, style) {
  if (["checkbox", "radio", "range"].includes(field.type)) return stated(/** @type {HTMLInputElement} */ (field), style);
  const select = field.localName === "select" ? /** @type {HTMLSelectElement} */ (field) : null;
  const text = select ? select.selectedOptions[0]?.textContent : field.value;
  if (!text || ["hidden", "password", "file", "submit", "button"].includes(field.type)) return null;
  const copy = document.createElement("span");
  copy.className = field.className;
  copy.textContent = text;
  const label = field.getAttribute("aria-label");
  if (label) copy.setAttribute("aria-label", label);
  withLook(copy, style);
  const long = field.localName === "textarea";
  const box = field.getBoundingClientRect();
  Object.assign(copy.style, {
    display: style.display.startsWith("inline") ? "inline-block" : "block", boxSizing: "border-box", flex: style.flex,
    width: `${box.width}px`, height: `${box.height}px`, margin: style.margin, borderRadius: style.borderRadius,
    overflow: "clip", whiteSpace: long ? "pre-wrap" : "pre", lineHeight: long ? style.lineHeight : `${field.clientHeight}px`,
    paddingTop: long ? style.paddingTop : "0", paddingBottom: "0", verticalAlign: style.verticalAlign,
    paddingLeft: `${parseFloat(style.paddingLeft) + (select ? SELECT_PX : 0)}px`,
  });
  return copy;
}

/**
 * A box or a slider that says its state and takes no other one.
 * @param {HTMLInputElement} field
 * @param {CSSStyleDeclaration} style
 */
function stated(field, style) {
  const copy = document.createElement("input");
  for (const name of ["type", "class", "min", "max", "step", "aria-label"]) {
    const value = field.getAttribute(name);
    if (value !== null) copy.setAttribute(name, value);
  }
  copy.setAttribute("inert", "");
  copy.style.pointerEvents = "none";
  copy.setAttribute("value", field.value);
  if (field.checked) copy.setAttribute("checked", "");
  Object.assign(copy.style, { width: style.width, height: style.height, margin: style.margin, opacity: style.opacity });
  return copy;
}
