// base/format.js

import { translations } from "./i18n.js";

export function count(value) {
  return value.toLocaleString("en");
}

// How long ago in both languages: [English, Chinese].
export function age(seconds) {
  for (const [unit, size, limit] of [["s", 1, 60], ["m", 60, 3600], ["h", 3600, 86400], ["d", 86400, Infinity]]) {
    if (seconds < limit) return translations(`age.${unit}`, { n: Math.max(0, Math.floor(seconds / size)).toLocaleString("en") });
  }
}
