// Components of Dash as elements of the document, for pages that Dash does not draw: those of dash.html, and names of stores. A
// page that has others is shown in a frame.

const ATTRIBUTES = new Map([["className", "class"], ["htmlFor", "for"], ["tabIndex", "tabindex"], ["maxLength", "maxlength"]]);

/**
 * A component as `layout` has it.
 * @typedef {{ namespace: string, type: string, props: Record<string, any> }} Component
 */

/**
 * What is made of the components of a page. ids: the plain ids of all components. parts: elements with a pattern id, by its
 * part and key (`partKey`).
 * @typedef {{ ids: Set<string>, parts: Map<string, HTMLElement> }} Made
 */

/**
 * @param {string} part
 * @param {string} key
 */
export const partKey = (part, key) => `${part} ${key}`;

/**
 * The first component, of this one and those in it, for which `fits` holds.
 * @param {any} component
 * @param {(component: Component) => boolean} fits
 * @returns {Component | null}
 */
export function componentIn(component, fits) {
  if (Array.isArray(component)) {
    for (const one of component) {
      const found = componentIn(one, fits);
      if (found) return found;
    }
    return null;
  }
  if (!component || typeof component !== "object" || !component.props) return null;
  return fits(component) ? component : componentIn(component.props.children, fits);
}

/**
 * @param {HTMLElement} element
 * @param {string} name
 * @param {any} value
 */
function setProperty(element, name, value) {
  if (name === "style") Object.assign(element.style, value);
  else if (value !== false && value !== null && value !== undefined) {
    element.setAttribute(ATTRIBUTES.get(name) || name, value === true ? "" : String(value));
  }
}

/**
 * The nodes of a component and of what is in it; renamed(id) is the id that an element has here.
 * @param {any} component
 * @param {(id: string) => string} renamed
 * @param {Made} made
 * @returns {Node[]}
 */
export function nodesOf(component, renamed, made) {
  if (component === null || component === undefined) return [];
  if (Array.isArray(component)) return component.flatMap((one) => nodesOf(one, renamed, made));
  if (typeof component !== "object") return [document.createTextNode(String(component))];
  const { namespace, type, props } = /** @type {Component} */ (component);
  const { children, id, ...others } = props;
  if (typeof id === "string") made.ids.add(id);
  if (namespace === "dash_core_components" && type === "Store") return [];
  if (namespace !== "dash_html_components") throw new Error(`expected a component of dash.html or a store, found ${type}`);
  const element = document.createElement(type.toLowerCase());
  if (typeof id === "string") element.id = renamed(id);
  else if (id) made.parts.set(partKey(id.part, id.key), element);
  for (const [name, value] of Object.entries(others)) setProperty(element, name, value);
  element.append(...nodesOf(children, renamed, made));
  return [element];
}
