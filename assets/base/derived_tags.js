// Names of derived curves among tags, and the dialog for their expressions, which is loaded when it is first opened.

/** First character of the name of a derived curve, before its expression. */
export const MARK = "=";

export const isDerived = (tag) => tag.startsWith(MARK);
export const expressionOf = (tag) => tag.slice(MARK.length);
export const derivedTag = (expression) => MARK + expression;

/** @param {Parameters<typeof import("./expression_dialog.js").openExpression>[0]} options */
export async function openExpression(options) {
  (await import("./expression_dialog.js")).openExpression(options);
}
