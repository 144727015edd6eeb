// User preferences: theme, language and refresh, kept in localStorage and applied to <html>. A classic script in the head of
// the index page, so that it runs before the first paint. Running it twice has no effect.
(function () {
  "use strict";
  if (window.mindscope && window.mindscope.prefs) return;

  const KEY = "mindscope";
  const NARROW = 1100;  // px; narrower windows start with a folded menu

  /** @returns {Partial<Preferences>} */
  function stored() {
    try {
      const value = JSON.parse(window.localStorage.getItem(KEY) || "null");
      return value && typeof value === "object" ? value : {};
    } catch (error) {
      return {};  // storage is unavailable or holds something else
    }
  }

  let chosen = stored();

  /** @param {unknown} seconds */
  function clamp(seconds) {
    return Math.min(300, Math.max(3, Math.round(Number(seconds)) || 3));
  }

  // In another application theme and language are the host's; only our own index page sets them.
  const ours = document.querySelector('meta[name="mindscope-pages"]') !== null;

  // One card of a page and nothing else, see kit/alone.js.
  const query = new URLSearchParams(window.location.search);
  const embedded = query.get("embed") === "1";
  const alone = ours && embedded && query.has("card");

  // A frame of a board has the preferences of the window around it. Frames of other sites have none: frameElement is null.
  const led = ours && window.frameElement !== null && window.frameElement.classList.contains("ms-board-frame");
  const leader = led ? window.parent.mindscope.prefs : null;

  function theme() {
    if (!ours) return document.documentElement.dataset.mantineColorScheme === "dark" ? "dark" : "light";
    if (chosen.theme === "light" || chosen.theme === "dark") return chosen.theme;
    return window.matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  }

  function language() {
    if (!ours) return document.documentElement.lang.startsWith("zh") ? "zh" : "en";
    if (chosen.lang === "en" || chosen.lang === "zh") return chosen.lang;
    return (navigator.language || "").toLowerCase().startsWith("zh") ? "zh" : "en";
  }

  /** @returns {Preferences} */
  function current() {
    if (leader) return leader.current();
    return {
      theme: theme(),
      lang: language(),
      refresh: chosen.refresh !== false,
      insights: chosen.insights || "normal",
      tool: chosen.tool || "mindspore",
      hover: chosen.hover && typeof chosen.hover === "object" ? chosen.hover : {},
      interval: clamp(chosen.interval),
      side: Number(chosen.side) > 0 ? Number(chosen.side) : 0,
      folded: typeof chosen.folded === "boolean" ? chosen.folded : window.innerWidth < NARROW,
    };
  }

  function apply() {
    if (!ours) return;
    const now = current();
    const root = document.documentElement;
    root.lang = now.lang === "zh" ? "zh-CN" : "en";
    root.dataset.mantineColorScheme = now.theme;
    root.style.colorScheme = now.theme;
    root.toggleAttribute("data-folded", now.folded);
    root.toggleAttribute("data-embed", embedded);
    root.toggleAttribute("data-alone", alone);
    root.toggleAttribute("data-led", led);
  }

  function announce() {
    window.dispatchEvent(new CustomEvent("mindscope:prefs"));
  }

  /** @param {Partial<Preferences>} changes */
  function set(changes) {
    if (leader) {
      leader.set(changes);
      return;
    }
    chosen = Object.assign(stored(), changes);
    try {
      window.localStorage.setItem(KEY, JSON.stringify(chosen));
    } catch (error) {
      // without storage the choice lasts as long as the page
    }
    apply();
    announce();
  }

  // A window that becomes narrow folds its menu, unless its user has folded or unfolded it once.
  window.matchMedia(`(max-width: ${NARROW - 1}px)`).addEventListener("change", () => {
    apply();
    announce();
  });

  window.mindscope = { prefs: { ours, alone, led, current, set, apply } };
  apply();
  if (led) {
    const follow = () => {
      apply();
      announce();
    };
    window.parent.addEventListener("mindscope:prefs", follow);
    window.addEventListener("pagehide", () => window.parent.removeEventListener("mindscope:prefs", follow));
  }
  if (!ours) {
    const watched = { attributes: true, attributeFilter: ["lang", "data-mantine-color-scheme"] };
    new MutationObserver(announce).observe(document.documentElement, watched);
  }
})();
