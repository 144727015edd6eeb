// The images page in the browser: a card per tag with a picture per run, all at one step. Counterpart of layouts/training/images.
// The server sends only when images were recorded; the pictures themselves are plain <img> of the image route, so moving a
// slider changes addresses and nothing else. images_compare.js puts two pictures beside or over each other.
(function () {
  "use strict";
  const mindscope = window.mindscope;
  const { cards, steps } = mindscope;
  const { make, words, icon, iconButton, segments, pressSegment, badge, last, count } = cards;
  const MOST = 24;      // pictures of a card until all are asked for
  const NEIGHBOURS = 24;  // pictures whose neighbours are fetched before they are asked for
  const [GAP, CAPTION, LEAST] = [8, 24, [110, 40]];  // px: between pictures, below one, least width and height of one
  const SETTLED_MS = 150;
  const ADJUST_WAIT_MS = 200;
  const ADJUSTMENTS = [["bright", "images.brightness"], ["contrast", "images.contrast"]];

  // Addresses ---------------------------------------------------------------------------------------------------------

  function address(page, tag, series, place, extra = {}) {
    const query = new URLSearchParams({ run: series.run, tag, place: String(place) });
    // A step that a browser cannot hold exactly would be another step.
    if (Number.isSafeInteger(series.steps[place])) query.set("step", String(series.steps[place]));
    query.set("v", series.walls[place].toString(36));
    if (indexOf(page, tag)) query.set("index", String(indexOf(page, tag)));
    for (const [name, value] of Object.entries(extra)) query.set(name, value);
    return `${page.root.dataset.routes}image?${query}`;
  }

  // A picture ---------------------------------------------------------------------------------------------------------

  function picture() {
    const image = make("img", "", [], { decoding: "async", loading: "lazy", alt: "" });
    const frame = make("div", "ms-image-frame", [image, make("p", "ms-image-note", [], { role: "status", hidden: "" })]);
    const save = make("a", "ms-button ms-button-icon", icon("download"), { download: "" });
    mindscope.i18n.label(save, "title", "images.save");
    mindscope.i18n.label(save, "aria-label", "images.save");
    const index = make("button", "ms-badge ms-badge-button ms-image-index", [], { type: "button", "data-act": "index", hidden: "" });
    mindscope.i18n.label(index, "title", "images.index");
    const caption = make("figcaption", "", [
      make("span", "ms-dot", [], { "aria-hidden": "true" }), make("span", "ms-image-run ms-cut"), make("span", "ms-image-step"), index,
      make("span", "ms-image-size ms-muted"), make("span", "ms-image-tools", [iconButton("compare", "images.compare", "compare"), save]),
    ]);
    const figure = make("figure", "ms-image", [frame, caption]);
    image.addEventListener("load", () => loaded(figure, image));
    image.addEventListener("error", () => failed(figure, image));
    return figure;
  }

  function loaded(figure, image) {
    figure.classList.remove("ms-image-failed", "ms-image-loading", "ms-image-damaged");
    figure.querySelector(".ms-image-note").hidden = true;
    settle(cards.pageAround(figure));
    figure.querySelector(".ms-image-size").textContent = `${count(image.naturalWidth)} × ${count(image.naturalHeight)}`;
    // Pixels as they are help where they are enlarged; a reduced picture would only lose some of them.
    arrange(figure.parentElement);
    image.classList.toggle("ms-image-enlarged", image.clientWidth > image.naturalWidth || image.clientHeight > image.naturalHeight);
  }

  // The route says why it has no picture; where it has one, the browser could not decode it.
  async function failed(figure, image) {
    const source = image.getAttribute("src");
    if (!source) return;
    const reason = await reasonOf(source, image.alt);
    if (image.getAttribute("src") !== source) return;
    figure.classList.add("ms-image-failed");
    figure.classList.remove("ms-image-loading");
    figure.querySelector(".ms-image-size").textContent = "";
    note(figure, reason);
  }

  async function reasonOf(source, what) {
    try {
      const answer = await fetch(source);
      if (!answer.ok) return (await answer.json()).error;
      const problem = decodeURIComponent(answer.headers.get("Mindscope-Problem") || "");
      if (problem) return `${what}: ${problem}`;
      return mindscope.i18n.text("images.undecodable", { what, media: answer.headers.get("Content-Type") });
    } catch (error) {
      return mindscope.i18n.text("images.unanswered", { what });
    }
  }

  // What an <img> does not tell: whether its bytes are damaged, and how many images its record has.
  async function look(page, figure) {
    const image = figure.querySelector("img");
    const source = image.getAttribute("src");
    if (!source || figure.looked === source || figure.matches(".ms-image-failed, .ms-image-loading")) return;
    figure.looked = source;
    const answer = await fetch(source, { method: "HEAD" }).catch(() => null);
    if (!answer || !answer.ok || image.getAttribute("src") !== source) return;
    const problem = decodeURIComponent(answer.headers.get("Mindscope-Problem") || "");
    figure.classList.toggle("ms-image-damaged", problem !== "");
    if (problem) note(figure, `${image.alt}: ${problem}`);
    const total = Number(answer.headers.get("Mindscope-Images")) || 1;
    const index = figure.querySelector(".ms-image-index");
    index.hidden = total < 2;
    index.dataset.total = String(total);
    const card = figure.closest(".ms-slot");
    if (card) index.textContent = `${indexOf(page, card.dataset.key) + 1}/${total}`;  // else it went while its picture was on its way
  }

  // Which of several images in one record is shown.
  function indexOf(page, tag) {
    return Math.max(0, Number(cards.entry(page.state, "index", tag)) || 0);
  }

  function note(figure, text) {
    const element = figure.querySelector(".ms-image-note");
    element.textContent = text;
    element.hidden = false;
  }

  // Have a picture show one place of a series; wanted is the position asked for, which may be later than what there is.
  function fill(page, figure, tag, series, place, wanted) {
    const image = figure.querySelector("img");
    figure.dataset.run = series.run;
    figure.querySelector(".ms-dot").style.background = series.colour;
    const name = figure.querySelector(".ms-image-run");
    if (name.textContent !== series.label) Object.assign(name, { textContent: series.label, title: series.label });
    const label = figure.querySelector(".ms-image-step");
    const save = figure.querySelector("a[download]");
    const none = place < 0;
    figure.classList.toggle("ms-image-none", none);
    save.hidden = none;
    if (none) {
      label.textContent = "";
      image.removeAttribute("src");
      figure.querySelector(".ms-image-size").textContent = "";
      const first = series.order.length ? count(series.order[0]) : "–";
      return note(figure, mindscope.i18n.text("images.not_yet", { step: first }));
    }
    const step = series.steps[place];
    mindscope.i18n.write(label, "images.step", { step: count(step) });
    label.classList.toggle("ms-image-older", Boolean(wanted) && wanted.step !== step);
    label.title = new Date(series.walls[place]).toLocaleString();
    const source = address(page, tag, series, place);
    if (image.getAttribute("src") === source) return undefined;
    image.alt = mindscope.i18n.text("images.alt", { tag, run: series.label, step: count(step) });
    image.src = source;
    if (!image.complete) figure.classList.add("ms-image-loading");
    save.href = address(page, tag, series, place, { download: "1" });
    return undefined;
  }

  // The grid of a card ------------------------------------------------------------------------------------------------

  function gridOf(page, card) {
    const host = card.querySelector(".ms-images");
    let grid = host.querySelector(":scope > .ms-image-grid");
    if (!grid) {
      grid = make("div", "ms-image-grid");
      host.replaceChildren(grid, steps.ownSlider(page, card));
      new ResizeObserver(() => arrange(grid)).observe(grid);
    }
    return grid;
  }

  // So many pictures beside each other that they are as large as they can be; where they have to be scrolled, as css has it.
  function arrange(grid) {
    if (!grid || !grid.classList.contains("ms-image-grid")) return;
    const { naturalWidth: width, naturalHeight: height } = Array.from(grid.querySelectorAll("img")).find((image) => image.naturalWidth) || {};
    const number = grid.children.length;
    let [columns, largest] = [0, 0];
    for (let across = 1; width && across <= number; across += 1) {
      const down = Math.ceil(number / across);
      const room = [(grid.clientWidth - 20 + GAP) / across - GAP, (grid.clientHeight - 8 + GAP) / down - GAP - CAPTION];
      const size = Math.min(room[0], (room[1] * width) / height);
      if (room[0] >= LEAST[0] && room[1] >= LEAST[1] && size > largest) [columns, largest] = [across, size];
    }
    grid.style.gridTemplateColumns = columns ? `repeat(${columns}, minmax(0, 1fr))` : "";
    grid.style.gridAutoRows = columns ? "minmax(0, 1fr)" : "";
  }

  function show(page, card, key) {
    if (comparing(page) === key) return mindscope.images.compare.show(page, card, key);
    const grid = gridOf(page, card);
    const every = cards.listed(page.state, "every", key);
    const shown = every ? card.stepped : card.stepped.slice(0, MOST);
    const position = steps.positionOf(page, card);
    while (grid.children.length > shown.length) grid.lastChild.remove();
    while (grid.children.length < shown.length) grid.append(picture());
    shown.forEach((series, at) => fill(page, grid.children[at], key, series, steps.placeAt(series, position), position));
    settle(page);
    return undefined;
  }

  // When nothing has moved for a moment, fetch what the next key press would show.
  function settle(page) {
    if (!page) return;
    window.clearTimeout(page.settling);
    page.settling = window.setTimeout(() => {
      const visible = Array.from(page.root.querySelectorAll(".ms-image")).filter((figure) => {
        const box = figure.getBoundingClientRect();
        return box.bottom > 0 && box.top < window.innerHeight && box.width > 0;
      });
      for (const figure of visible) look(page, figure);
      preload(page, visible.filter((figure) => figure.closest(".ms-image-grid")));
    }, SETTLED_MS);
  }

  function preload(page, visible) {
    page.ahead = visible.slice(0, NEIGHBOURS).flatMap((figure) => {
      const card = figure.closest(".ms-slot");
      const series = card.stepped && card.stepped.find((one) => one.run === figure.dataset.run);
      if (!series || card.steppedKey !== card.dataset.key) return [];
      const now = steps.placeAt(series, steps.positionOf(page, card));
      return [now - 1, now + 1].filter((place) => place >= 0 && place < series.steps.length)
        .map((place) => Object.assign(new Image(), { src: address(page, card.dataset.key, series, place) }));
    });
  }

  // Controls ----------------------------------------------------------------------------------------------------------

  function adjustment([name, label]) {
    const range = make("input", "ms-slider ms-image-adjust", [], { type: "range", min: "0", max: "200", step: "5", "data-adjust": name });
    mindscope.i18n.label(range, "aria-label", label);
    return make("label", "ms-field", [words(label, {}, "span", "ms-field-name"), range, make("output", "ms-image-percent")]);
  }

  function adjust(page, values) {
    for (const [name] of ADJUSTMENTS) {
      const range = page.find(`[data-adjust="${name}"]`);
      range.value = values[name];
      range.nextSibling.textContent = `${values[name]}%`;
    }
    page.root.style.setProperty("--ms-brightness", String(values.bright / 100));
    page.root.style.setProperty("--ms-contrast", String(values.contrast / 100));
    page.find(".ms-image-reset").disabled = values.bright === 100 && values.contrast === 100;
  }

  function adjusted(page, state) {
    return Object.fromEntries(ADJUSTMENTS.map(([name]) => {
      const value = Number(last(state, name, "100"));
      return [name, Number.isFinite(value) ? Math.min(200, Math.max(0, value)) : 100];
    }));
  }

  function build(page) {
    const ranges = ADJUSTMENTS.map(adjustment);
    for (const field of ranges) {
      field.querySelector("input").addEventListener("input", () => {
        const values = Object.fromEntries(ADJUSTMENTS.map(([name]) => [name, Number(page.find(`[data-adjust="${name}"]`).value)]));
        adjust(page, values);
        window.clearTimeout(page.adjusting);
        page.adjusting = window.setTimeout(() => {
          page.adjusting = 0;
          const changes = ADJUSTMENTS.map(([name]) => [name, values[name] === 100 ? [] : [String(values[name])]]);
          page.change(Object.fromEntries(changes));
        }, ADJUST_WAIT_MS);
      });
    }
    const reset = iconButton("restore", "images.reset", "");
    reset.removeAttribute("data-act");
    reset.classList.add("ms-image-reset");
    reset.addEventListener("click", () => page.change({ bright: [], contrast: [] }));
    const size = segments("images.size", [["fit", "images.fit"], ["actual", "images.actual"]],
      (value) => page.change({ size: value === "actual" ? ["actual"] : [] }));
    const scale = segments("images.scale", [["nearest", "images.nearest"], ["smooth", "images.smooth"]],
      (value) => page.change({ scale: value === "smooth" ? ["smooth"] : [] }));
    size.classList.add("ms-image-sizes");
    scale.classList.add("ms-image-scales");
    return { left: [...steps.control(page), make("div", "ms-image-adjustments", [...ranges, reset])], right: [size, scale] };
  }

  function draw(page) {
    const size = last(page.state, "size", "fit") === "actual" ? "actual" : "fit";
    const scale = last(page.state, "scale", "nearest") === "smooth" ? "smooth" : "nearest";
    pressSegment(page.find(".ms-image-sizes"), size);
    pressSegment(page.find(".ms-image-scales"), scale);
    page.root.classList.toggle("ms-images-actual", size === "actual");
    page.root.classList.toggle("ms-images-smooth", scale === "smooth");
    if (!page.adjusting) adjust(page, adjusted(page, page.state));
    steps.draw(page);
    mindscope.images.compare.draw(page);
    page.root.classList.toggle("ms-images-comparing", comparing(page) !== null);
  }

  // The tag of which two pictures are compared, or null.
  function comparing(page) {
    const tag = last(page.state, "compare", null);
    return tag !== null && page.catalogue && page.catalogue.tags.includes(tag) ? tag : null;
  }

  function painted(page, card, key, meta) {
    steps.take(page, card, meta);
    const number = card.stepped.reduce((sum, series) => sum + series.steps.length, 0);
    const notes = [badge(number === 1 ? "images.count_one" : "images.count", { n: count(number) }, "images.count.title")];
    if (card.stepped.length > MOST && comparing(page) !== key && !cards.listed(page.state, "every", key)) {
      notes.push(badge("images.runs", { shown: MOST, total: count(card.stepped.length) }, null, "accent"));
      notes.push(make("button", "ms-badge ms-badge-button", words("images.every"), { type: "button", "data-act": "every" }));
    }
    return { badges: [], notes };
  }

  document.addEventListener("click", (event) => {
    const image = event.target instanceof Element && event.target.closest(".ms-image-grid .ms-image-frame img");
    const page = image && cards.pageAround(image);
    if (page) page.change({ size: last(page.state, "size", "") === "actual" ? [] : ["actual"] });
  });

  mindscope.images = { address, picture, fill, comparing };

  cards.define("images", {
    build, draw, show, painted,
    ask: () => ({}),
    tools: () => [iconButton("compare", "images.compare", "compare")],
    files: () => [],
    press: (page, card, key) => mindscope.slots.press(card, "compare", comparing(page) === key),
    cards: (page) => (comparing(page) === null ? null : [comparing(page)]),
    keys: (page, key) => mindscope.images.compare.keys(page, key),
    acts: {
      every: (page, card, key) => page.change({ every: cards.toggled(page.state, "every", key) }),
      compare: (page, card, key, button) => mindscope.images.compare.toggle(page, card, key, button),
      index: (page, card, key, button) => {
        const next = (indexOf(page, key) + 1) % Number(button.dataset.total);
        page.change({ index: cards.withEntry(page.state, "index", key, next ? String(next) : "") });
      },
      swap: (page) => mindscope.images.compare.swap(page),
    },
  });
})();
