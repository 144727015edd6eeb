/**
 * A text for plotly, which takes some of HTML for markup in its texts.
 * @param {string} text
 */
export function escapeMarkup(text) {
  return text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
}
