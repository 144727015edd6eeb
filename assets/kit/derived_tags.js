// Names of derived curves among tags.

/** First character of the name of a derived curve, before its expression. */
export const MARK = "=";

/** @param {string} tag */
export const isDerived = (tag) => tag.startsWith(MARK);
/** @param {string} tag */
export const expressionOf = (tag) => tag.slice(MARK.length);
/** @param {string} expression */
export const derivedTag = (expression) => MARK + expression;
