// Numbers as people type them, and which of them a parameter takes (parsers/analysis/dumps/watchpoints/conditions.py has the
// rule).

const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,4})?$/;

/**
 * Why a text is refused as the value of a parameter: [text key, values]; null if it is not.
 * @param {string} text
 * @param {{ least: number | null, greatest: number | null, above: boolean }} limit
 * @returns {[string, Record<string, any>] | null}
 */
export function refusal(text, { least, greatest, above }) {
  const value = Number(text);
  if (!NUMBER.test(text) || !Number.isFinite(value)) return ["debugger.wrong.number", { text: text.slice(0, 40) }];
  if (greatest !== null && (value < (least ?? -Infinity) || value > greatest)) {
    return ["debugger.wrong.between", { least, greatest }];
  }
  if (least !== null && (above ? value <= least : value < least)) {
    return [above ? "debugger.wrong.above" : "debugger.wrong.least", { least }];
  }
  return null;
}
