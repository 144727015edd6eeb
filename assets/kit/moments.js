// Ages and times of day as text.
import { count } from "./units.js";
import { translations } from "./i18n.js";

const AGES = [
  { unit: "s", size: 1, limit: 60 }, { unit: "m", size: 60, limit: 3600 }, { unit: "h", size: 3600, limit: 86400 },
  { unit: "d", size: 86400, limit: Infinity },
];

/**
 * Age in both languages.
 * @param {number} seconds
 * @returns {Wire.Texts}
 */
export function age(seconds) {
  const { unit, size } = AGES.find(({ limit }) => seconds < limit) || AGES[AGES.length - 1];
  return translations(`age.${unit}`, { n: count(Math.max(0, Math.floor(seconds / size))) });
}

/**
 * Date and time of seconds since 1970, in the zone of the browser; "" for none.
 * @param {number} seconds
 */
export function dateTime(seconds) {
  const date = new Date(seconds * 1000);
  if (Number.isNaN(date.getTime())) return "";
  /** @param {number} part */
  const two = (part) => String(part).padStart(2, "0");
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} `
    + `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}
