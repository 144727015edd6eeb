// The data preparation page: which operation and which steps are shown. Counterpart of layouts/profiler/preparation.
(function () {
  "use strict";
  const mindscope = window.mindscope;
  const dash = (window.dash_clientside = window.dash_clientside || {});
  const { make, words } = mindscope.cards;
  const { get } = mindscope.profiling;
  const WAIT_MS = 400;
  const pages = new Map();

  function build(page) {
    pages.set(page.root.id, page);
    page.inputs = ["from", "to"].map((name) => {
      const input = make("input", "ms-input ms-preparation-step-input", [], { type: "number", min: "0", step: "1" });
      mindscope.i18n.label(input, "aria-label", `preparation.${name}`);
      let timer = 0;
      input.addEventListener("input", () => {
        window.clearTimeout(timer);
        timer = window.setTimeout(() => page.change({ [name]: input.value === "" ? [] : [input.value] }), WAIT_MS);
      });
      return input;
    });
    page.reset = make("button", "ms-button", words("preparation.all_steps"), { type: "button" });
    page.reset.addEventListener("click", () => page.change({ from: [], to: [] }));
    page.find(".ms-preparation-steps").replaceChildren(
      words("preparation.from", {}, "span", "ms-muted"), page.inputs[0], words("preparation.to", {}, "span", "ms-muted"), page.inputs[1], page.reset);
    page.root.addEventListener("click", (event) => {
      const target = event.target instanceof Element ? event.target : null;
      const box = target && target.closest("[data-op]");
      if (box) page.change({ op: [box.dataset.op] });
      const full = target && target.closest('[data-act="full"]');
      if (full) toggle(page, full.closest("[data-card]").dataset.card);
    });
  }

  function toggle(page, name) {
    page.change({ full: get(page, "full") === name ? [] : [name] });
  }

  function draw(page) {
    for (const [at, name] of ["from", "to"].entries()) {
      if (document.activeElement !== page.inputs[at]) page.inputs[at].value = get(page, name);
    }
    page.reset.hidden = !get(page, "from") && !get(page, "to");
    for (const card of page.root.querySelectorAll("[data-card]")) card.classList.toggle("ms-full", card.dataset.card === get(page, "full"));
  }

  document.addEventListener("keydown", (event) => {
    const { key, target } = event;
    if (!["f", "Escape"].includes(key) || event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    if (!(target instanceof Element) || target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName)) return;
    const root = document.querySelector(".ms-preparation");
    const page = root && pages.get(root.id);
    if (!page || document.querySelector("dialog[open]")) return;
    const card = target.closest("[data-card]");
    if (key === "Escape" && get(page, "full")) page.change({ full: [] });
    else if (key === "f" && card) toggle(page, card.dataset.card);
  });

  mindscope.profiling.define("preparation", { build, draw });

  dash.mindscope_preparation = {
    // A card that has nothing to show is not there.
    shown(...args) {
      const root = document.getElementById(args.pop());
      if (!root) return;
      const cards = root.querySelectorAll("[data-card]");
      args.forEach((children, at) => { cards[at].hidden = children === null || children === undefined; });
    },
  };
})();
