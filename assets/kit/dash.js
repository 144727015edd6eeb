// Dash in the browser: its clientside functions, and what they need from it.

/**
 * The namespace of a ClientsideFunction; created from `fresh` at the first call.
 * @param {string} namespace
 * @param {ClientsideFunctions} [fresh]
 * @returns {ClientsideFunctions}
 */
export function functionsOf(namespace, fresh = {}) {
  const all = (window.dash_clientside = window.dash_clientside || /** @type {DashClientside} */ ({}));
  all[namespace] = all[namespace] || fresh;
  return all[namespace];
}

/**
 * Return value for an output that does not change.
 * @returns {NoUpdate}
 */
export function noUpdate() {
  return window.dash_clientside.no_update;
}

const APART = "apart";
/** @type {Map<string, (id: string | Record<string, string>, props: Record<string, unknown>) => void>} */
const apart = new Map();  // instance -> what sets properties of its components

/**
 * The instance, in the ids of its components, of a page that Dash does not know; there may be one for each name.
 * @param {string} name of letters and digits
 */
export const apartInstance = (name) => `${APART}${name}`;

/**
 * Have properties of an instance that Dash does not know be set by this; returns a function that ends it, unless another one
 * has taken its place.
 * @param {string} instance
 * @param {(id: string | Record<string, string>, props: Record<string, unknown>) => void} set
 */
export function keepApart(instance, set) {
  apart.set(instance, set);
  return () => void (apart.get(instance) === set && apart.delete(instance));
}

/**
 * @param {string | Record<string, string>} id
 * @param {Record<string, unknown>} props
 */
export function setProps(id, props) {
  const instance = typeof id === "string" ? id.split("-", 1)[0] : id.ms;
  if (!instance || !instance.startsWith(APART)) window.dash_clientside.set_props(id, props);
  else apart.get(instance)?.(id, props);
}

/**
 * Inputs of the running function; only valid until it returns.
 * @returns {{ inputs_list: { id: string, property: string, value?: unknown }[] }}
 */
export function callbackContext() {
  return window.dash_clientside.callback_context;
}

/**
 * Properties of a component as Dash has them now; empty if there is none of this id.
 * @param {string} id
 * @returns {Record<string, unknown>}
 */
export function propsOf(id) {
  const found = window.dash_component_api.getLayout(id);
  return found ? found.props : {};
}
