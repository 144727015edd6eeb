// A list of rows of one height, of which those on screen are made; rows come from the server in blocks. A list taller than what
// browsers can draw moves its rows faster than its scroll bar.

import { make } from "../kit/elements.js";

const WAIT_MS = 60;
const TALLEST = 8e6;  // px; browsers draw no higher elements
const BEYOND = 1;     // rows that are made above and below the screen

/**
 * Where things are in a list: place(scrollTop) is the offset in px of the whole list that is at the top of the screen, and
 * scroll(offset) the inverse.
 */
export function geometry(total, height, screen) {
  const whole = total * height;
  const drawn = Math.min(whole, TALLEST);
  const ratio = drawn > screen ? (whole - screen) / (drawn - screen) : 1;
  return { drawn, place: (top) => top * ratio, scroll: (offset) => offset / ratio };
}

/**
 * tallRows(host, { block, draw(row, number), drop(element), ask(first, count) }): host scrolls. put(answer) takes
 * { total, first, rows }; reset() forgets all rows and goes to the top.
 */
export function tallRows(host, { block, draw, drop, ask }) {
  const space = make("div", "ms-rows");
  host.append(space);
  const rows = new Map();
  const shown = new Map();
  let total = 0;
  let height = 200;
  let timer = 0;
  let asked = -1;

  const screen = () => host.clientHeight || 600;
  const now = () => geometry(total, height, screen());

  function remove(number) {
    const element = shown.get(number);
    shown.delete(number);
    drop(element);
    element.remove();
  }

  function paint() {
    const { place } = now();
    const top = host.scrollTop;
    const offset = place(top);
    const first = Math.max(0, Math.floor(offset / height) - BEYOND);
    const end = Math.min(total, Math.ceil((offset + screen()) / height) + BEYOND);
    for (const number of [...shown.keys()]) {
      const far = number < first || number >= end;
      if (far && !(shown.get(number).contains(document.activeElement) && number < total)) remove(number);
    }
    let missing = -1;
    for (let number = first; number < end; number += 1) {
      if (!rows.has(number)) {
        if (missing < 0) missing = number;
      } else if (!shown.has(number)) {
        const element = draw(rows.get(number), number);
        element.dataset.row = String(number);
        shown.set(number, element);
        space.append(element);
      }
    }
    for (const [number, element] of shown) element.style.top = `${Math.round(top + number * height - offset)}px`;
    if (missing >= 0) want(missing);
  }

  function want(number) {
    const first = Math.floor(number / block) * block;
    window.clearTimeout(timer);
    timer = window.setTimeout(() => {
      if (asked === first) return;
      asked = first;
      ask(first, block);
    }, WAIT_MS);
  }

  host.addEventListener("scroll", paint, { passive: true });
  new ResizeObserver(paint).observe(host);

  return {
    get total() { return total; },
    /** The first row on screen, and how many fit. */
    window: () => [Math.floor(now().place(host.scrollTop) / height), Math.ceil(screen() / height)],
    row: (number) => rows.get(number),
    element: (number) => shown.get(number),
    elements: () => [...shown.values()],
    put(answer, fresh) {
      if (fresh) rows.clear();
      asked = -1;
      total = answer.total;
      space.style.height = `${now().drawn}px`;
      for (const [at, row] of answer.rows.entries()) rows.set(answer.first + at, row);
      if (fresh) this.repaint();
      else paint();
    },
    resize(px) {
      if (px === height) return;
      const [first] = this.window();
      height = px;
      space.style.height = `${now().drawn}px`;
      host.scrollTop = now().scroll(first * height);
      this.repaint();
    },
    /** Make the rows on screen anew; the one with the focus keeps it. */
    repaint() {
      const focused = [...shown].find(([, element]) => element.contains(document.activeElement));
      for (const number of [...shown.keys()]) remove(number);
      paint();
      const again = focused && shown.get(focused[0]);
      if (again) again.focus({ preventScroll: true });
    },
    top() {
      host.scrollTop = 0;
    },
    /** Scroll until a row is on screen. */
    seek(number) {
      const { place, scroll } = now();
      const offset = place(host.scrollTop);
      if (number * height < offset) host.scrollTop = scroll(number * height);
      else if ((number + 1) * height > offset + screen()) host.scrollTop = scroll((number + 1) * height - screen());
      paint();
    },
  };
}
