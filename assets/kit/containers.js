// Pages embedded in a container of fixed height scroll inside it, and what fills the window elsewhere fills the container.

const watched = new WeakSet();

/**
 * Whether the height of an element is its own, not that of its contents: only then does a height of 100 % mean anything.
 * @param {Element} element
 */
function hasHeight(element) {
  const probe = document.createElement("div");
  probe.style.cssText = "float: left; width: 0; height: 100%; visibility: hidden;";
  element.append(probe);
  const known = probe.offsetHeight > 0;
  probe.remove();
  return known;
}

/** @param {HTMLElement} frame */
function fit(frame) {
  const fixed = frame.parentElement !== null && hasHeight(frame.parentElement);
  frame.classList.toggle("ms-frame-fixed", fixed);
  if (fixed) frame.style.setProperty("--ms-view", `${frame.clientHeight}px`);
  else frame.style.removeProperty("--ms-view");
}

/**
 * Fit the frame of an embedded page into its container, now and whenever that is resized.
 * @param {HTMLElement | null} frame
 */
export function contain(frame) {
  const container = frame && frame.parentElement;
  if (!container || frame.closest(".ms-shell") || watched.has(frame)) return;
  watched.add(frame);
  new ResizeObserver(() => { if (frame.parentElement) fit(frame); }).observe(container);
  fit(frame);
}
