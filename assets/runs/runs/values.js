// Values of the columns that users add, asked for some runs at a time, and regular expressions of filters, which the server
// matches within a time limit. Counterpart of layouts/runs/runs/columns.py.

import { setProps } from "../../kit/dash.js";

const ASK_MS = 50;
const LOST_MS = 20000;
const MOST_ASKED = 1000;

/**
 * Differs whenever a row has new data.
 * @param {Pick<Wire.RunRow, "points" | "updated" | "steps" | "state">} row
 */
export function stampOf({ points, updated, steps, state }) {
  return `${points} ${steps} ${updated} ${state}`;
}

/**
 * @param {RunTable.Value} value
 * @param {boolean} numeric
 */
function valueOf(value, numeric) {
  return numeric && typeof value === "string" ? Number(value) : value;
}

/** Values by column and run. changed() is called when there are new ones. */
export class Values {
  /**
   * @param {string} gridId
   * @param {(columns: string[]) => void} changed
   */
  constructor(gridId, changed) {
    this.store = gridId.replace(/-grid$/, "-values-ask");
    this.changed = changed;
    /**
     * Values by column and run.
     * @type {Map<string, RunTable.Column>}
     */
    this.columns = new Map();
    /**
     * Stamps of rows when they were asked for, by column and run.
     * @type {Map<string, Map<string, string>>}
     */
    this.stamps = new Map();
    /** @type {Record<string, Wire.Texts>} */
    this.labels = {};
    /**
     * Why the expressions of columns are invalid.
     * @type {Record<string, Wire.Texts>}
     */
    this.wrong = {};
    /**
     * What is said on hover of values that are not finite, by run and column.
     * @type {Record<string, Record<string, Wire.Texts>>}
     */
    this.tips = {};
    this.asking = 0;
    /** @type {Map<string, string>} */
    this.asked = new Map();
  }

  /**
   * What is said on hover of a value, null for nothing.
   * @param {string} column
   * @param {string} key
   */
  tipOf(column, key) {
    const tips = this.tips[key];
    return (tips && tips[column]) || null;
  }

  /**
   * @param {string} column
   * @param {string} key
   */
  get(column, key) {
    const known = this.columns.get(column);
    const value = known ? known.get(key) : undefined;
    return value === undefined ? null : valueOf(value, this.isNumeric(column));
  }

  /**
   * Whether a column has numbers: all of its values, where "NaN" and the like stand for numbers that are not finite.
   * @param {string} column
   */
  isNumeric(column) {
    if (!column.startsWith("setting:")) return true;
    const known = this.columns.get(column);
    if (!known) return false;
    if (known.numeric === undefined) {
      const values = Array.from(known.values()).filter((value) => value !== null);
      known.numeric = values.some((value) => typeof value === "number")
        && values.every((value) => typeof value === "number" || /^(NaN|-?Infinity)$/.test(value));
    }
    return known.numeric;
  }

  /**
   * Rows of which the value in one of these columns is unknown or old.
   * @param {RunTable.Row[]} rows
   * @param {string[]} columns
   */
  unknown(rows, columns) {
    const known = columns.map((column) => this.stamps.get(column));
    return rows.filter((row) => known.some((stamps) => !stamps || stamps.get(row.key) !== stampOf(row)));
  }

  /**
   * @param {RunTable.Row[]} rows
   * @param {string[]} columns
   */
  lacking(rows, columns) {
    return this.unknown(rows, columns).length > 0;
  }

  /**
   * Ask for what is unknown of these columns; rows are all runs, the more urgent ones first.
   * @param {RunTable.Row[]} rows
   * @param {string[]} columns
   */
  ask(rows, columns) {
    if (Date.now() - this.asking < LOST_MS || !columns.length) return;
    const lacking = this.unknown(rows, columns).slice(0, MOST_ASKED);
    if (!lacking.length) return;
    this.asking = Date.now();
    this.asked = new Map(lacking.map((row) => [row.key, stampOf(row)]));
    const data = { run: lacking.map(({ key }) => key), col: columns, again: [String(this.asking)] };
    window.setTimeout(() => setProps(this.store, { data }), ASK_MS);
  }

  /** @param {Wire.ColumnValues} answer */
  answered({ col, rows, labels, wrong, tips }) {
    this.asking = 0;
    for (const key of Object.keys(rows)) this.tips[key] = { ...this.tips[key], ...tips[key] };
    this.wrong = wrong;
    Object.assign(this.labels, labels);
    col.forEach((column, at) => {
      /** @type {RunTable.Column} */
      const known = this.columns.get(column) || new Map();
      const stamps = this.stamps.get(column) || new Map();
      for (const [key, values] of Object.entries(rows)) {
        known.set(key, values[at]);
        stamps.set(key, this.asked.get(key) || "");
      }
      known.numeric = undefined;
      this.columns.set(column, known);
      this.stamps.set(column, stamps);
    });
    this.changed(col);
  }
}

/** Regular expressions, written /like this/ in a filter. changed() is called when there are new results. */
export class Patterns {
  /**
   * @param {string} gridId
   * @param {() => void} changed
   */
  constructor(gridId, changed) {
    this.store = gridId.replace(/-grid$/, "-matched-ask");
    this.changed = changed;
    /** @type {Map<string, RunTable.Pattern>} */
    this.known = new Map();
    this.asking = 0;
    /** @type {{ pattern: string, texts: string[] }} */
    this.asked = { pattern: "", texts: [] };
  }

  /**
   * Whether a text matches; true until that is known, and if it cannot be.
   * @param {string} pattern
   * @param {string} text
   */
  matches(pattern, text) {
    const of = this.known.get(pattern) || { texts: new Map(), wanted: new Set(), error: "" };
    this.known.set(pattern, of);
    if (of.error) return true;
    const found = of.texts.get(text);
    if (found !== undefined) return found;
    of.wanted.add(text);
    this.ask();
    return true;
  }

  ask() {
    if (Date.now() - this.asking < LOST_MS) return;
    this.asking = Date.now();
    window.setTimeout(() => {
      const next = Array.from(this.known).find(([, { wanted, error }]) => wanted.size && !error);
      if (!next) {
        this.asking = 0;
        return;
      }
      const [pattern, { wanted }] = next;
      this.asked = { pattern, texts: Array.from(wanted) };
      setProps(this.store, { data: { pattern: [pattern], text: this.asked.texts, again: [String(this.asking)] } });
    }, ASK_MS);
  }

  /** @param {Wire.MatchedTexts} answer */
  answered({ pattern, found, error }) {
    this.asking = 0;
    const of = this.known.get(pattern);
    if (!of || this.asked.pattern !== pattern) return;
    of.error = error;
    const fitting = new Set(found);
    this.asked.texts.forEach((text, at) => {
      of.texts.set(text, fitting.has(at));
      of.wanted.delete(text);
    });
    this.changed();
    this.ask();
  }

  /**
   * Why patterns of filters have no result; "" if all have.
   * @param {string[]} patterns
   */
  trouble(patterns) {
    return patterns.map((pattern) => (this.known.get(pattern) || { error: "" }).error).filter(Boolean).join(" ");
  }
}

/**
 * The pattern of a filter text; null for plain text.
 * @param {string} text
 */
export function patternOf(text) {
  return text.length > 2 && text.startsWith("/") && text.endsWith("/") ? text.slice(1, -1) : null;
}
