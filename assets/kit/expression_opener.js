// Opens the dialog for the expression of a derived curve, which is loaded when it is first needed.

/** @param {import("./expression_dialog.js").ExpressionOptions} options */
export async function openExpression(options) {
  (await import("./expression_dialog.js")).openExpression(options);
}
