// What a user prefers: theme, language, refresh. Kept in localStorage of this browser and applied to <html>.
// Stands in the head of the index page, so it runs before anything is painted; a second run changes nothing.
(function () {
  "use strict";
  const mindscope = (window.mindscope = window.mindscope || {});
  if (mindscope.prefs) return;

  const KEY = "mindscope";
  const NARROW = 1100;  // px; below it the menu begins folded

  function stored() {
    try {
      const value = JSON.parse(window.localStorage.getItem(KEY));
      return value && typeof value === "object" ? value : {};
    } catch (error) {
      return {};  // storage is forbidden or holds what is not ours
    }
  }

  let chosen = stored();

  function clamp(seconds) {
    return Math.min(300, Math.max(3, Math.round(Number(seconds)) || 3));
  }

  function current() {
    const dark = window.matchMedia("(prefers-color-scheme: dark)").matches;
    const chinese = (navigator.language || "").toLowerCase().startsWith("zh");
    return {
      theme: chosen.theme === "light" || chosen.theme === "dark" ? chosen.theme : dark ? "dark" : "light",
      lang: chosen.lang === "en" || chosen.lang === "zh" ? chosen.lang : chinese ? "zh" : "en",
      refresh: chosen.refresh !== false,
      interval: clamp(chosen.interval),
      folded: typeof chosen.folded === "boolean" ? chosen.folded : window.innerWidth < NARROW,
    };
  }

  // A page in somebody else's layout follows that layout's theme and language; only our own shell sets them.
  const ours = document.querySelector('meta[name="mindscope-libraries"]') !== null;

  function apply() {
    const now = current();
    const root = document.documentElement;
    root.lang = now.lang === "zh" ? "zh-CN" : "en";
    root.dataset.mantineColorScheme = now.theme;
    root.style.colorScheme = now.theme;
    root.toggleAttribute("data-folded", now.folded);
    root.toggleAttribute("data-embed", new URLSearchParams(window.location.search).get("embed") === "1");
    try {
      window.localStorage.setItem("mantine-color-scheme-value", now.theme);
    } catch (error) {
      // without storage Mantine follows forceColorScheme alone
    }
  }

  function set(changes) {
    chosen = Object.assign(stored(), changes);
    try {
      window.localStorage.setItem(KEY, JSON.stringify(chosen));
    } catch (error) {
      // kept for this page only
    }
    if (ours || document.querySelector(".ms-shell")) apply();
    window.dispatchEvent(new CustomEvent("mindscope:prefs"));
  }

  mindscope.prefs = { current, set, apply, clamp };
  if (ours) apply();
})();
