// What a user prefers. The classic script does the work, for on our own index page it runs before anything is painted.
import "../early/prefs.js";

// onOwnIndexPage: false in somebody else's layout, where theme and language are the host's.
export const { ours: onOwnIndexPage, current: currentPrefs, set: setPrefs, apply: applyPrefs } = window.mindscope.prefs;
