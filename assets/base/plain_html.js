// Elements of the plain lists that layouts/markup.py makes. Texts become text nodes and nothing is read as HTML.

function element([tag, attributes, children]) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    // A style attribute is inline style, which the page's policy may forbid; the property is not.
    if (name === "style") made.style.cssText = value;
    else if (value === true) made.setAttribute(name, "");
    else if (value !== false) made.setAttribute(name, value);
  }
  made.append(...children.map(node));
  return made;
}

function node(one) {
  return typeof one === "string" ? document.createTextNode(one) : element(one);
}

// Replaces what is in an element.
export const showPlainHtml = (host, children) => host.replaceChildren(...children.map(node));
