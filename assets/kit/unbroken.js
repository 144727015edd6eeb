// Sentences as they are shown: no line ends between a number and its unit, or after a sign of comparison. Answers of the server
// and exports have ordinary spaces, and a browser writes these for no-break ones into what is copied.

const BREAKS = new RegExp(
  "(?<=\\d) (?=(?:%|[nµm]?s|min|m|h|d|px|[KMGTPE]iB|[kMGTPE]?(?:B|FLOP|FLOPS|Hz))(?:/s)?(?![A-Za-z0-9_]))"
  + "|(?<=[<>≤≥]) (?=[\\d\u2212-])", "g");
const SENTENCES = ".t > .en, .t > .zh";

/**
 * A text with no-break spaces where no line should end.
 * @param {string} text
 */
export const unbroken = (text) => text.replace(BREAKS, "\u00a0");

/** @param {Node | null} node */
function keepTogether(node) {
  if (!(node instanceof Text)) return;
  const shown = unbroken(node.data);
  if (shown !== node.data) node.data = shown;
}

/** @param {Node} added */
function keepAllTogether(added) {
  if (added instanceof Text) {
    if (added.parentElement && added.parentElement.matches(SENTENCES)) keepTogether(added);
  } else if (added instanceof Element) {
    if (added.matches(SENTENCES)) keepTogether(added.firstChild);
    for (const sentence of added.querySelectorAll(SENTENCES)) keepTogether(sentence.firstChild);
  }
}

new MutationObserver((changes) => {
  for (const { type, target, addedNodes } of changes) {
    if (type === "characterData") keepAllTogether(target);
    else for (const added of addedNodes) keepAllTogether(added);
  }
}).observe(document.documentElement, { childList: true, subtree: true, characterData: true });
keepAllTogether(document.documentElement);
