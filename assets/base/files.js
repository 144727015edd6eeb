// Files made in the browser: a plot as an image, a table as CSV.

import { make } from "./elements.js";

function save(url, name) {
  make("a", "", [], { href: url, download: name }).click();
}

export function safe(text, otherwise) {
  return text.replace(/[^\p{L}\p{N}.-]+/gu, "_").replace(/^[._]+|_+$/g, "").slice(0, 80) || otherwise;
}

// On the page css colours a plot; a file needs the colours in it.
export async function image({ data, layout }, near, format, name, size = near) {
  const style = getComputedStyle(near);
  const colour = (variable) => style.getPropertyValue(variable).trim();
  const dressed = structuredClone(layout);
  Object.assign(dressed, {
    paper_bgcolor: colour("--ms-card"), plot_bgcolor: colour("--ms-card"), autosize: false,
    font: { size: 11, color: colour("--ms-text"), family: style.fontFamily },
  });
  const { clientWidth: width, clientHeight: height } = size;
  const options = { format, width, height, scale: format === "png" ? 2 : 1 };
  save(await window.Plotly.toImage({ data, layout: dressed }, options), `${name}.${format}`);
}

// A text that a spreadsheet would take for a formula is defused.
function cell(value) {
  if (typeof value === "number" && Number.isFinite(value)) return String(value);
  const text = value === null || value === undefined ? "" : String(value);
  const plain = /^[=+\-@\t\r]/.test(text) && !/^[+-]?Inf$/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(plain) ? `"${plain.replace(/"/g, '""')}"` : plain;
}

export function csv(table, name) {
  const text = table.map((row) => row.map(cell).join(",")).join("\r\n");
  const url = URL.createObjectURL(new Blob([`${text}\r\n`], { type: "text/csv" }));
  save(url, `${name}.csv`);
  window.setTimeout(() => URL.revokeObjectURL(url), 10000);
}
