// Numbers, ages and times as text.
import { translations } from "./i18n.js";

const AGES = [
  { unit: "s", size: 1, limit: 60 }, { unit: "m", size: 60, limit: 3600 }, { unit: "h", size: 3600, limit: 86400 },
  { unit: "d", size: 86400, limit: Infinity },
];

/** @param {number | bigint} value */
export function count(value) {
  return value.toLocaleString("en");
}

// Age in both languages: [English, Chinese].
export function age(seconds) {
  for (const { unit, size, limit } of AGES) {
    if (seconds < limit) {
      return translations(`age.${unit}`, { n: Math.max(0, Math.floor(seconds / size)).toLocaleString("en") });
    }
  }
}

/** A text for plotly, which takes some of HTML for markup in its texts. */
export function escapeMarkup(text) {
  return text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
}

/** Date and time of seconds since 1970, in the zone of the browser; "" for none. */
export function dateTime(seconds) {
  const date = new Date(seconds * 1000);
  if (Number.isNaN(date.getTime())) return "";
  const two = (part) => String(part).padStart(2, "0");
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} `
    + `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}

/** Four significant digits, thousands separated. */
export function short(value) {
  if (!Number.isFinite(value)) return special(value);
  const rounded = Number(value.toPrecision(4));
  const size = Math.abs(rounded);
  return size >= 1e4 && size < 1e12 ? rounded.toLocaleString("en") : String(rounded);
}

/** What a number that is not finite is called. */
export function special(value) {
  return Number.isNaN(value) ? "NaN" : value > 0 ? "+Inf" : "-Inf";
}
