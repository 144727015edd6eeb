// In the index page of somebody else's Dash application: Dash starts when our modules have run, or have failed to load.
// Modules run after all classic scripts, and Dash would look up our clientside functions and cell renderers before. A classic
// script, whose data-modules names what to load, once for each embedded page.
(function () {
  "use strict";
  const { src, dataset } = /** @type {HTMLScriptElement} */ (document.currentScript);
  const assets = new URL("../", src);
  const modules = dataset.modules.split(" ").map((name) => import(new URL(name, assets).href));
  if (window.mindscopeModules) {
    window.mindscopeModules.push(...modules);
    return;
  }
  window.mindscopeModules = modules;

  let Renderer = window.DashRenderer;
  function HeldRenderer(...hooks) {
    Promise.allSettled(window.mindscopeModules).then(() => new Renderer(...hooks));
  }
  Object.defineProperty(window, "DashRenderer", {
    configurable: true,
    get: () => Renderer && HeldRenderer,
    set: (made) => { Renderer = made; },
  });
})();
