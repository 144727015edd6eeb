// dash-cytoscape gives Cytoscape a sensitivity of the wheel even if the server names none, and Cytoscape warns of any in the
// console. canvas.js zooms by itself, so the default is removed before the component is made for the first time. Its bundle may
// come before or after this module.

/** @param {DashCytoscape} library */
export const withoutSensitivity = (library) => {
  delete library.Cytoscape.defaultProps.wheelSensitivity;
  return library;
};

/** @param {{ dash_cytoscape?: DashCytoscape }} scope */
export const watchFor = (scope) => {
  if (scope.dash_cytoscape) {
    withoutSensitivity(scope.dash_cytoscape);
    return;
  }
  Object.defineProperty(scope, "dash_cytoscape", {
    configurable: true,
    enumerable: true,
    set: (library) => {
      const value = withoutSensitivity(library);
      Object.defineProperty(scope, "dash_cytoscape", { value, configurable: true, enumerable: true, writable: true });
    },
  });
};

watchFor(window);
