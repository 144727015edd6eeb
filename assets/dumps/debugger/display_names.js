// How operators, tensors, conditions and values are called.

import { make } from "../../kit/elements.js";
import { count } from "../../kit/units.js";
import { translate } from "../../kit/i18n.js";

/**
 * The end of a name, without its scopes.
 * @param {string} name
 */
export const shortName = (name) => name.slice(name.lastIndexOf("/") + 1);

/** A value with four digits; texts such as +Inf stay. */
export function shown(value) {
  if (value === null || value === undefined) return "–";
  if (typeof value !== "number") return String(value);
  if (Number.isInteger(value) && Math.abs(value) < 1e6) return count(value);
  return String(Number(value.toPrecision(4)));
}

/** A tensor of an operator: output.0 is "output 0", input.1:kwargs.x "input 1 kwargs.x". */
export function tensorName(io) {
  const [, kind, slot, key = "", again = ""] = io.match(/^([a-z]+)\.(\d+)(?::([^@]*))?(?:@(\d+))?$/) || ["", "saved", "", io];
  return [translate(`debugger.io.${kind}`, { slot }), key, again ? `×${Number(again) + 1}` : ""].filter(Boolean).join(" ");
}

/**
 * What a limit says: "max > 1e3".
 * @param {string} name
 */
export const limitText = (name, value) => translate(`debugger.limit.${name}`, { n: shown(value) });

/** What a watchpoint found of a tensor: "NaN or Inf: 12", "max > 1e3: 5.2e4", or the status that a device reported. */
export function foundText(hit, watchpoint) {
  if (watchpoint && watchpoint.condition === "operator_overflow" && hit.actual !== null) {
    return translate("debugger.found.status", { n: String(hit.actual) });
  }
  if (!hit.parameter) {
    return hit.actual === null ? translate("debugger.found.bad") : translate("debugger.found.bad_n", { n: shown(hit.actual) });
  }
  const text = `${limitText(hit.parameter, hit.wanted)}: ${shown(hit.actual)}`;
  return hit.excluded > 0 ? `${text} · ${translate("debugger.excluded", { n: count(hit.excluded) })}` : text;
}

export const whyText = (why) => translate(`debugger.why.${why.replaceAll(" ", "_")}`);

/** How many hits there are, as a badge. */
export function hitBadge(hits) {
  return make("span", "ms-badge ms-badge-wrong", count(hits), { title: translate("debugger.strip.hits", { n: count(hits) }) });
}

/** The limits of a watchpoint in words. */
export function limitsText(watchpoint) {
  const { limits } = watchpoint;
  const parts = Object.entries(limits).filter(([name]) => !name.startsWith("range_") || !name.endsWith("_inclusive"))
    .map(([name, value]) => limitText(name, value));
  if ("range_start_inclusive" in limits) {
    parts.push(`[${shown(limits.range_start_inclusive)}, ${shown(limits.range_end_inclusive)}]`);
  }
  return parts.join(translate("debugger.or"));
}
