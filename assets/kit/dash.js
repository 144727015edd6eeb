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

/**
 * @param {string | Record<string, string>} id
 * @param {Record<string, unknown>} props
 */
export function setProps(id, props) {
  window.dash_clientside.set_props(id, props);
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
