// A virtual table of any number of rows and columns. Only visible cells are elements. Values are fetched in blocks as they come
// into view, and evicted once many newer blocks were fetched. Independent of tensors:
//   createTable(host, { fetch(rows, columns, signal) -> Promise<(row, column) -> value>, moved(row, column) })
// shows values after show({ rows, columns, rowHead(i), columnHead(i), width, format(value), heat(value) }).

const ROW = 22;            // px
const BLOCK = [128, 64];   // rows and columns of a block
const MOST_BLOCKS = 200;
// Browsers limit elements to about 17 million px; above this the scroll bar is scaled.
const LONGEST = 8e6;
const WAIT_MS = 40;        // skips blocks that a dragged scroll bar only passes

/**
 * @param {string} className
 * @param {string} [role]
 */
function make(className, role) {
  const element = document.createElement("div");
  element.className = className;
  if (role) element.setAttribute("role", role);
  return element;
}

/**
 * @param {number} value
 * @param {number} low
 * @param {number} high
 */
function clamp(value, low, high) {
  return Math.max(low, Math.min(high, value));
}

/**
 * One scroll direction: count cells of a size; the first one in view may be visible in part.
 * @param {number} size
 */
export function axis(size) {
  return {
    size, count: 0, at: 0, room: 0,
    get most() { return Math.max(0, this.count - this.room / this.size); },
    get length() { return Math.min(this.count * this.size, LONGEST); },
    get scaled() { return this.count * this.size > LONGEST; },
    toPixels() { return this.most ? (this.at / this.most) * Math.max(0, this.length - this.room) : 0; },
    /** @param {number} pixels */
    fromPixels(pixels) {
      if (!this.scaled) return pixels / this.size;
      return (pixels / Math.max(1, this.length - this.room)) * this.most;
    },
    /** @param {number} place */
    moveTo(place) { this.at = clamp(place, 0, this.most); },
    /** @param {number} index */
    bring(index) {
      const whole = Math.max(1, Math.floor(this.room / this.size));
      if (index < this.at) this.moveTo(index);
      else if (index > this.at + whole - 1) this.moveTo(index - this.room / this.size + 1);
    },
    get first() { return Math.floor(this.at); },
    get end() { return Math.min(this.count, Math.ceil(this.at + this.room / this.size)); },
  };
}

export function createTable(host, { fetch, moved }) {
  const scroller = make("ms-table-scroll");
  const space = make("ms-table-space");
  const view = make("ms-table-view");
  const corner = make("ms-table-corner");
  const header = make("ms-table-header", "row");
  header.hidden = true;   // a row without cells is damage to a screen reader
  view.append(header);
  scroller.append(space, view);
  host.replaceChildren(scroller);
  host.setAttribute("role", "grid");
  host.tabIndex = 0;
  const rows = axis(ROW);
  const columns = axis(80);
  const blocks = new Map();   // "row column" of the first cell -> { get }, { waiting } or { failed }
  const lines = [];   // a row on screen: its element, its cells, its head
  const heads = [];   // of columns
  let shown = null;
  let headWidth = 48;
  let current = [0, 0];
  let fetching = new AbortController();
  let timer = 0;
  let frame = 0;
  let own = false;   // the next scroll event was caused by us

  // Blocks -----------------------------------------------------------------------------------------------------------

  function keyOf(row, column) {
    return `${row - (row % BLOCK[0])} ${column - (column % BLOCK[1])}`;
  }

  /**
   * @param {number} row
   * @param {number} column
   */
  function valueAt(row, column) {
    const block = blocks.get(keyOf(row, column));
    return block && block.get ? block.get(row, column) : undefined;
  }

  function missing() {
    const keys = [];
    for (let row = rows.first - (rows.first % BLOCK[0]); row < rows.end; row += BLOCK[0]) {
      for (let column = columns.first - (columns.first % BLOCK[1]); column < columns.end; column += BLOCK[1]) {
        if (!blocks.has(`${row} ${column}`)) keys.push([row, column]);
      }
    }
    return keys;
  }

  /** @param {number[]} options */
  async function load([row, column]) {
    const key = `${row} ${column}`;
    const { signal } = fetching;
    blocks.set(key, { waiting: true });
    try {
      const spans = [[row, Math.min(rows.count, row + BLOCK[0])], [column, Math.min(columns.count, column + BLOCK[1])]];
      const get = await fetch(...spans, signal);
      if (signal.aborted) return;
      blocks.set(key, { get });
      if (blocks.size > MOST_BLOCKS) blocks.delete(blocks.keys().next().value);
      draw();
    } catch (error) {
      if (signal.aborted) return;
      // Where nothing answered it is asked for again; what was refused is not, until something else is shown.
      if (error instanceof TypeError) blocks.delete(key);
      else blocks.set(key, { failed: true });
    }
  }

  function loadMissing() {
    window.clearTimeout(timer);
    if (shown) timer = window.setTimeout(() => missing().forEach(load), WAIT_MS);
  }

  // Drawing ----------------------------------------------------------------------------------------------------------

  /**
   * As many elements of a kind as are wanted; those there are beyond them are hidden.
   * @param {number} number
   * @param {HTMLDivElement} parent
   * @param {string} kind
   * @param {string} role
   */
  function pooled(pool, number, parent, kind, role) {
    while (pool.length < number) pool.push(parent.appendChild(make(`ms-table-${kind}`, role)));
    pool.forEach((element, i) => { element.hidden = i >= number; });
    return pool;
  }

  /** @param {number} i */
  function line(i) {
    if (!lines[i]) {
      const element = make("ms-table-line", "row");
      view.insertBefore(element, header);
      lines[i] = { element, cells: [], head: element.appendChild(make("ms-table-row", "rowheader")) };
    }
    return lines[i];
  }

  /**
   * @param {number} left
   * @param {number} top
   * @param {number} width
   */
  function place(element, left, top, width) {
    element.style.transform = `translate(${left}px, ${top}px)`;
    element.style.width = `${width}px`;
  }

  /** @param {string} text */
  function write(element, text) {
    if (element.textContent !== text) element.textContent = text;
  }

  /**
   * @param {number} row
   * @param {number} column
   */
  function drawCell(element, row, column) {
    const value = valueAt(row, column);
    const known = value !== undefined;
    const { text, kind } = known ? shown.format(value) : { text: "", kind: "" };
    write(element, text);
    const heat = known ? shown.heat(value) : 0;
    element.style.setProperty("--ms-heat", Math.abs(heat).toFixed(3));
    const selected = row === current[0] && column === current[1];
    element.className
      = `ms-table-cell${kind}${heat > 0 ? " ms-above" : heat < 0 ? " ms-below" : ""}${selected ? " ms-current" : ""}`
        + (known ? "" : " ms-unknown");
    element.id = `${host.id}-${row}-${column}`;
    element.setAttribute("aria-colindex", String(column + 2));
    element.dataset.row = row;
    element.dataset.column = column;
  }

  function paint() {
    frame = 0;
    if (!shown || !host.clientWidth) return;
    measure();
    const [high, wide] = [rows.end - rows.first, columns.end - columns.first];
    /** @param {number} i */
    const left = (i) => headWidth + Math.round((columns.first + i - columns.at) * columns.size);
    /** @param {number} i */
    const top = (i) => ROW + Math.round((rows.first + i - rows.at) * ROW);
    for (let i = 0; i < high; i += 1) {
      const { element, cells, head } = line(i);
      element.setAttribute("aria-rowindex", String(rows.first + i + 2));
      pooled(cells, wide, element, "cell", "gridcell");
      for (let j = 0; j < wide; j += 1) {
        place(cells[j], left(j), top(i), columns.size);
        drawCell(cells[j], rows.first + i, columns.first + j);
      }
      place(head, 0, top(i), headWidth);
      write(head, shown.rowHead(rows.first + i));
    }
    lines.forEach(({ element }, i) => { element.hidden = i >= high; });
    header.hidden = !wide;
    pooled(heads, wide, header, "column", "columnheader").slice(0, wide).forEach((element, j) => {
      place(element, left(j), 0, columns.size);
      write(element, shown.columnHead(columns.first + j));
    });
    view.append(corner);
    corner.style.width = `${headWidth}px`;
    const target = `${host.id}-${current[0]}-${current[1]}`;
    if (document.getElementById(target)) host.setAttribute("aria-activedescendant", target);
    else host.removeAttribute("aria-activedescendant");
    loadMissing();
  }

  function draw() {
    if (!frame) frame = window.requestAnimationFrame(paint);
  }

  // The view covers the scroller without its bars and stays in place.
  function measure() {
    const [width, height] = [scroller.clientWidth, scroller.clientHeight];
    view.style.width = `${width}px`;
    view.style.height = `${height}px`;
    rows.room = Math.max(ROW, height - ROW);
    columns.room = Math.max(columns.size, width - headWidth);
    rows.moveTo(rows.at);
    columns.moveTo(columns.at);
    space.style.width = `${columns.length + headWidth}px`;
    space.style.height = `${rows.length + ROW}px`;
  }

  // Moving -----------------------------------------------------------------------------------------------------------

  function follow() {
    const [left, top] = [Math.round(columns.toPixels()), Math.round(rows.toPixels())];
    if (left === Math.round(scroller.scrollLeft) && top === Math.round(scroller.scrollTop)) return;
    own = true;
    scroller.scrollTo(left, top);
  }

  scroller.addEventListener("scroll", () => {
    if (!shown) return;
    if (own) own = false;
    else {
      rows.moveTo(rows.fromPixels(scroller.scrollTop));
      columns.moveTo(columns.fromPixels(scroller.scrollLeft));
    }
    draw();
  });

  // With a scaled scroll bar one pixel is many rows, so handle the wheel here.
  scroller.addEventListener("wheel", (event) => {
    if (!shown || event.ctrlKey || !(rows.scaled || columns.scaled)) return;
    event.preventDefault();
    const unit = event.deltaMode === 1 ? ROW : event.deltaMode === 2 ? rows.room : 1;
    const [dx, dy] = event.shiftKey && !event.deltaX ? [event.deltaY, 0] : [event.deltaX, event.deltaY];
    rows.moveTo(rows.at + (dy * unit) / ROW);
    columns.moveTo(columns.at + (dx * unit) / columns.size);
    follow();
    draw();
  }, { passive: false });

  /**
   * @param {number} [row]
   * @param {number} [column]
   */
  function goTo(row, column) {
    if (!shown || !rows.count || !columns.count) return;
    current = [clamp(row, 0, rows.count - 1), clamp(column, 0, columns.count - 1)];
    measure();
    rows.bring(current[0]);
    columns.bring(current[1]);
    follow();
    draw();
    moved(...current);
  }

  host.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
    if (event.altKey || event.metaKey || !shown) return;
    const page = Math.max(1, Math.floor(rows.room / ROW) - 1);
    const [row, column] = current;
    const far = event.ctrlKey;
    const to = {
      ArrowUp: [far ? 0 : row - 1, column], ArrowDown: [far ? rows.count - 1 : row + 1, column],
      ArrowLeft: [row, far ? 0 : column - 1], ArrowRight: [row, far ? columns.count - 1 : column + 1],
      PageUp: [row - page, column], PageDown: [row + page, column],
      Home: [far ? 0 : row, 0], End: [far ? rows.count - 1 : row, columns.count - 1],
    }[event.key];
    if (!to) return;
    event.preventDefault();
    event.stopPropagation();
    goTo(...to);
  });

  view.addEventListener("mousedown", (event) => {
    const cell = event.target.closest(".ms-table-cell");
    if (cell) goTo(Number(cell.dataset.row), Number(cell.dataset.column));
  });

  new ResizeObserver(draw).observe(host);

  return {
    /**
     * Set new content, keeping the position if it still exists. kept: values have not changed.
     * @param {boolean} [kept]
     */
    show(next, kept = false) {
      if (!kept) {
        fetching.abort();
        fetching = new AbortController();
        blocks.clear();
      }
      shown = next;
      Object.assign(rows, { count: next.rows });
      Object.assign(columns, { count: next.columns, size: next.width });
      const heads = [0, next.rows - 1].map((i) => (next.rows ? next.rowHead(i).length : 1));
      headWidth = Math.max(40, 16 + Math.max(...heads) * 8);
      current = [clamp(current[0], 0, Math.max(0, rows.count - 1)), clamp(current[1], 0, Math.max(0, columns.count - 1))];
      host.setAttribute("aria-rowcount", String(rows.count + 1));
      host.setAttribute("aria-colcount", String(columns.count + 1));
      measure();
      follow();
      draw();
    },
    hide() {
      fetching.abort();
      shown = null;
    },
    goTo,
    valueAt,
    get current() { return current; },
  };
}
