// Every point of the curves of a card, for a page saved as a file: the server draws the card once more, with nothing left out
// (app/routes/curves/every_point.py).

import * as cards from "../../kit/cards/cards.js";
import { provide } from "../../kit/every_point.js";
import { post } from "../../kit/notes.js";
import { last } from "../../kit/state.js";

const POINT_BYTES = 22;  // x and y in eight bytes each, as base64

/** @param {Element} plot */
function wholeOf(plot) {
  const card = plot.closest(".ms-slot");
  const page = card instanceof HTMLElement && cards.pageAround(card);
  if (!page || page.root.dataset.page !== "scalars") return null;
  const slot = Number(card.dataset.slot);
  const [drawing, ask] = [page.drawings.get(slot), page.asks[slot]];
  const meta = drawing && drawing.layout && drawing.layout.meta;
  if (!meta || !ask || meta.whole || meta.points <= meta.sent) return null;
  const lines = Number(last(page.state, "smooth", "0")) > 0 ? 2 : 1;  // with smoothing the raw ones, too
  return {
    bytes: (meta.points - meta.sent) * POINT_BYTES * lines,
    traces: async () => (await post(page.root.dataset.routes || "", "scalars-points", { ask })).data,
  };
}

provide(wholeOf);
