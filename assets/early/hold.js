// For pages embedded in another Dash application: start Dash only after our modules have run, or failed to load. Modules run
// after all classic scripts, so Dash would otherwise look up clientside functions and cell renderers that are not there yet. A
// classic script, included once per embedded page; data-modules lists what to load.
(function () {
  "use strict";
  const { src, dataset } = /** @type {HTMLScriptElement} */ (document.currentScript);
  const assets = new URL("../", src);
  const modules = (dataset.modules || "").split(" ").map((name) => import(new URL(name, assets).href));
  if (window.mindscopeModules) {
    window.mindscopeModules.push(...modules);
    return;
  }
  window.mindscopeModules = modules;

  let Renderer = window.DashRenderer;
  /** @param {unknown[]} hooks */
  function HeldRenderer(...hooks) {
    Promise.allSettled(window.mindscopeModules).then(() => new Renderer(...hooks));
  }
  Object.defineProperty(window, "DashRenderer", {
    configurable: true,
    get: () => Renderer && HeldRenderer,
    set: (made) => { Renderer = made; },
  });
})();
