// Text alternatives of charts, for readers who do not see them. A figure of plotly brings its own in layout.meta.alternative
// (layouts/kit/figures/alternatives.py); what scripts draw gets its text from them. Texts are pairs [English, Chinese].

import { language } from "./i18n.js";

/** @type {WeakMap<Element, HTMLElement>} */
const descriptions = new WeakMap();  // element -> the element with its description
const followed = new WeakSet();  // plots
let number = 0;

/**
 * Make an element an image with this name, or nothing special without one. role is another one for what has parts.
 * @param {Element} element
 * @param {Wire.Texts | null | undefined} texts
 * @param {string} [role]
 */
export function setAlternative(element, texts, role = "img") {
  const parts = ["data-en-aria-label", "data-zh-aria-label"];
  if (texts) {
    element.setAttribute("role", role);
    parts.forEach((part, at) => element.setAttribute(part, texts[at]));
    element.setAttribute("aria-label", texts[language() === "zh" ? 1 : 0]);
    return;
  }
  for (const part of [...parts, "role", "aria-label"]) element.removeAttribute(part);
}

/**
 * Describe an element that has a name of its own, such as a drawing reached by keys.
 * @param {Element} element
 * @param {Wire.Texts | null | undefined} texts
 */
export function setDescription(element, texts) {
  let holder = descriptions.get(element);
  if (!holder || !holder.isConnected) {
    if (!texts) return;
    holder = document.createElement("span");
    holder.className = "ms-silent t";
    holder.id = `ms-described-${++number}`;
    holder.append(...[["en", "en"], ["zh", "zh-CN"]].map(([className, lang]) => (
      Object.assign(document.createElement("span"), { className, lang })
    )));
    element.after(holder);
    descriptions.set(element, holder);
    element.setAttribute("aria-describedby", holder.id);
  }
  Array.from(holder.children).forEach((part, at) => {
    const text = texts ? texts[at] : "";
    if (part.textContent !== text) part.textContent = text;
  });
}

/**
 * plot is an element of plotly, which has its layout and its events.
 * @param {PlotlyElement | null} plot
 */
function follow(plot) {
  if (!plot || !plot.on || followed.has(plot)) return;
  followed.add(plot);
  const take = () => setAlternative(plot, plot.layout && plot.layout.meta && plot.layout.meta.alternative);
  // plotly may draw while Dash is taking the plot away.
  plot.on("plotly_afterplot", () => plot.layout && take());
  take();
}

// plotly puts its container into the element of a figure when it draws there for the first time.
new MutationObserver((changes) => {
  for (const { addedNodes } of changes) {
    for (const node of addedNodes) {
      if (!(node instanceof Element)) continue;
      const containers = node.matches(".plot-container") ? [node] : node.querySelectorAll(".js-plotly-plot > .plot-container");
      for (const { parentElement: plot } of containers) {
        follow(plot);
      }
    }
  }
}).observe(document.documentElement, { childList: true, subtree: true });
