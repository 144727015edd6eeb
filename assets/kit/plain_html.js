// Elements from the plain lists of layouts/kit/plain_html.py. Texts become text nodes; nothing is parsed as HTML.

/** @typedef {[string, Record<string, string | boolean>, (string | PlainElement)[]]} PlainElement tag, attributes, children */

/** @param {PlainElement} plain */
function element([tag, attributes, children]) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    // The Content-Security-Policy of a host may forbid style attributes, but not setting the property.
    if (name === "style") made.style.cssText = String(value);
    else if (value === true) made.setAttribute(name, "");
    else if (value !== false) made.setAttribute(name, String(value));
  }
  made.append(...children.map(node));
  return made;
}

/**
 * @param {string | PlainElement} one
 * @returns {Node}
 */
function node(one) {
  return typeof one === "string" ? document.createTextNode(one) : element(one);
}

/**
 * Replace the content of an element.
 * @param {Element} host
 * @param {(string | PlainElement)[]} children
 */
export const showPlainHtml = (host, children) => host.replaceChildren(...children.map(node));

/**
 * Elements of the layout that no callback uses arrive in the attribute data-plain of the element around them.
 * @param {ParentNode} root
 */
export function fillPlain(root) {
  const hosts = Array.from(root.querySelectorAll("[data-plain]"));
  if (root instanceof HTMLElement && root.dataset.plain) hosts.unshift(root);
  for (const host of hosts) {
    showPlainHtml(host, JSON.parse(host.dataset.plain));
    host.removeAttribute("data-plain");
  }
}

new MutationObserver((changes) => {
  for (const change of changes) for (const added of change.addedNodes) if (added instanceof HTMLElement) fillPlain(added);
}).observe(document.documentElement, { childList: true, subtree: true });
fillPlain(document);
