// User preferences as a module. early/prefs.js does the work, because it has to run before the first paint.
import "../early/prefs.js";

// onOwnIndexPage: false in another application, whose theme and language apply. alone: this window shows one card of its page;
// led: it is a frame of a board.
export const { alone, led } = window.mindscope.prefs;
export const { ours: onOwnIndexPage, current: currentPrefs, set: setPrefs, apply: applyPrefs } = window.mindscope.prefs;
