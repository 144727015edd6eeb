// Dash in the browser: where its clientside functions are looked up, and what they need of it.

// The functions that Dash finds under a namespace (layouts name them in ClientsideFunction); made once, as fresh says.
export function functionsOf(namespace, fresh = {}) {
  const all = (window.dash_clientside = window.dash_clientside || {});
  all[namespace] = all[namespace] || fresh;
  return all[namespace];
}

// What a function returns for an output that stays as it is.
export function noUpdate() {
  return window.dash_clientside.no_update;
}

export function setProps(id, props) {
  window.dash_clientside.set_props(id, props);
}

// Which inputs the running function was called with; Dash takes it away when the function returns.
export function callbackContext() {
  return window.dash_clientside.callback_context;
}
