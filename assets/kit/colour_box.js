// The box in which the user sets the colour of a run, a job or a group, by the route `colour` of app/routes/runs/notes.py.

import { PALETTE } from "./colours.js";
import { make, words } from "./elements.js";
import { setLabel } from "./i18n.js";
import { bookOfFrame, close, openBox, post, showFailure } from "./notes.js";
import { poll } from "./polling.js";

/** @import { NoteBox } from "./notes.js" */
/** @typedef {{ frame: string, target: Record<string, string>, name: string, colour: string, byHand: boolean }} Coloured */

const WAIT_MS = 250;  // the browser's picker sends every colour that the pointer passes

/**
 * A round button with the colour of something, which opens the box; only the colour for those who may only read.
 * @param {string} background a colour, or the slices of several
 * @param {Coloured} about
 *   target names what is coloured, as the route wants it; colour is the one it has
 */
export function dotButton(background, about) {
  const dot = make("span", background ? "ms-dot" : "ms-dot ms-dot-off");
  dot.style.background = background;
  if (bookOfFrame(about.frame)?.readOnly) return dot;
  const button = make("button", "ms-dot-button", dot, { type: "button" });
  for (const name of ["title", "aria-label"]) setLabel(button, name, "colour.of", { name: about.name });
  button.addEventListener("click", (event) => {
    event.stopPropagation();
    open(button, about);
  });
  return button;
}

/**
 * @param {HTMLElement} anchor
 * @param {Coloured} about
 */
function open(anchor, about) {
  const back = () => { if (anchor.isConnected) anchor.focus(); };
  const { frame, name } = about;
  openBox({ what: "colour", anchor, frame, key: "", label: "colour.of", name, back, fill: (box) => fill(box, about) });
}

/**
 * @param {NoteBox} box
 * @param {Coloured} about
 */
function fill(box, { target, name, colour, byHand }) {
  const trouble = make("div", "ms-note-trouble", [], { hidden: "", role: "alert" });
  /**
   * @param {string} wanted
   * @param {boolean} done
   */
  const set = async (wanted, done) => {
    try {
      await post(box.routes, "colour", { ...target, colour: wanted });
      if (done) close(box);
    } catch (error) {
      showFailure(box, trouble, error);
    }
    poll();
  };
  const swatches = [0, 1, 2].map((shade) => make("div", "ms-swatches", PALETTE.map((hue) => swatch(hue[shade], colour, set))));
  const own = make("input", "ms-swatch-own", [], { type: "color", value: colour.startsWith("#") ? colour : PALETTE[0][0] });
  setLabel(own, "aria-label", "colour.own");
  let timer = 0;
  own.addEventListener("input", () => {
    window.clearTimeout(timer);
    timer = window.setTimeout(() => set(own.value, false), WAIT_MS);
  });
  const reset = make("button", "ms-button ms-button-small ms-colour-reset", words("colour.reset"), { type: "button" });
  reset.disabled = !byHand;
  reset.addEventListener("click", () => set("", true));
  box.element.append(
    make("div", "ms-cut ms-name ms-swatch-name", name), ...swatches,
    make("div", "ms-note-foot", [make("label", "ms-swatch-label ms-grow", [own, words("colour.own")]), reset]),
    words("colour.hint", {}, "p", "ms-muted ms-swatch-hint"), trouble,
  );
  const pressed = box.element.querySelector('.ms-swatch[aria-pressed="true"]') || box.element.querySelector(".ms-swatch");
  pressed.focus();
}

/**
 * @param {string} colour
 * @param {string} now
 * @param {(colour: string, done: boolean) => void} set
 */
function swatch(colour, now, set) {
  const button = make("button", "ms-swatch", [], {
    type: "button", "data-colour": colour, "aria-pressed": String(colour === now), "aria-label": colour, title: colour,
  });
  button.style.background = colour;
  button.addEventListener("click", () => set(colour, true));
  return button;
}
