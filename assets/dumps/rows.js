// A list of very many rows of one height, of which those on screen are made; rows come from the server in blocks.

import { make } from "../kit/elements.js";

const BLOCK = 100;
const WAIT_MS = 60;
const TALLEST = 8e6;  // browsers draw no higher elements

/**
 * rowList(host, { height, draw(row, number), ask(first, count) }): host scrolls. put(answer) takes { total, first, rows };
 * reset() forgets all rows, keeping the place if `keep` is set; seek(number) scrolls a row into view.
 */
export function rowList(host, { height, draw, ask }) {
  const space = make("div", "ms-rows");
  host.replaceChildren(space);
  host.classList.add("ms-rows-host");
  const known = new Map();
  const shown = new Map();
  let total = 0;
  let timer = 0;
  let asked = "";

  const rowsShown = () => {
    const first = Math.max(0, Math.floor(host.scrollTop / height) - 4);
    return [first, Math.min(total, first + Math.ceil((host.clientHeight || 400) / height) + 10)];
  };

  function paint() {
    const [first, end] = rowsShown();
    for (const [number, element] of shown) {
      if (number < first || number >= end) {
        if (element.contains(document.activeElement)) continue;
        element.remove();
        shown.delete(number);
      }
    }
    for (let number = first; number < end; number += 1) {
      if (shown.has(number) || !known.has(number)) continue;
      const element = draw(known.get(number), number);
      element.style.position = "absolute";
      element.style.top = `${number * height}px`;
      element.dataset.row = String(number);
      shown.set(number, element);
      space.append(element);
    }
    const missing = [];
    for (let number = first; number < end; number += 1) if (!known.has(number)) missing.push(number);
    if (missing.length) want(missing[0]);
  }

  /** @param {number} number */
  function want(number) {
    const first = Math.floor(number / BLOCK) * BLOCK;
    window.clearTimeout(timer);
    timer = window.setTimeout(() => {
      if (asked === `${first}`) return;
      asked = `${first}`;
      ask(first, 2 * BLOCK);
    }, WAIT_MS);
  }

  host.addEventListener("scroll", paint, { passive: true });
  new ResizeObserver(paint).observe(host);
  host.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const row = step && event.target instanceof Element && event.target.closest("[data-row]");
    if (!(row instanceof HTMLElement)) return;
    event.preventDefault();
    const next = Number(row.dataset.row) + step;
    if (next < 0 || next >= total) return;
    seek(next);
    paint();
    const target = shown.get(next);
    if (target) (target.matches("button") ? target : target.querySelector("button"))?.focus();
  });

  function seek(number) {
    const [top, bottom] = [number * height, (number + 1) * height];
    if (top < host.scrollTop) host.scrollTop = top;
    else if (bottom > host.scrollTop + host.clientHeight) host.scrollTop = bottom - host.clientHeight;
  }

  /** @type {Debugger.RowList} */
  const list = {
    get total() { return total; },
    /** The first row on screen and how many to ask for at once. */
    window: () => [Math.floor(rowsShown()[0] / BLOCK) * BLOCK, 2 * BLOCK],
    /** @param {boolean} [keep] */
    put(answer, keep = false) {
      if (!keep) known.clear();
      asked = "";
      total = answer.total;
      space.style.height = `${Math.min(total * height, TALLEST)}px`;
      for (const [place, row] of answer.rows.entries()) known.set(answer.first + place, row);
      const focused = [...shown].find(([, element]) => element.contains(document.activeElement));
      for (const element of shown.values()) element.remove();
      shown.clear();
      paint();
      const again = focused && shown.get(focused[0]);
      if (again) (again.matches("button") ? again : again.querySelector("button"))?.focus({ preventScroll: true });
    },
    reset() {
      known.clear();
      asked = "";
      host.scrollTop = 0;
    },
    repaint() {
      for (const element of shown.values()) element.remove();
      shown.clear();
      paint();
    },
    seek,
  };
  return list;
}
