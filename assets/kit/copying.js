// Copies names whole: their parts stand side by side (names.js), and browsers copy each as a line of its own.

/** @param {ClipboardEvent} event */
function copied(event) {
  const selection = window.getSelection();
  if (!event.clipboardData || !selection || selection.isCollapsed || !selection.rangeCount) return;
  const range = selection.getRangeAt(0);
  const around = range.commonAncestorContainer;
  const within = around instanceof Element ? around : around.parentElement;
  if (!within) return;
  if (within.closest(".ms-name")) {
    event.clipboardData.setData("text/plain", range.toString());
    event.preventDefault();
    return;
  }
  const holder = document.createElement("div");
  holder.append(range.cloneContents());
  const names = holder.querySelectorAll(".ms-name");
  if (!names.length) return;
  for (const name of names) name.replaceWith(name.textContent || "");
  // Only what is rendered knows its lines.
  holder.className = "ms-copied";
  holder.setAttribute("aria-hidden", "true");
  within.append(holder);
  event.clipboardData.setData("text/plain", holder.innerText);
  holder.remove();
  event.preventDefault();
}

document.addEventListener("copy", copied);
