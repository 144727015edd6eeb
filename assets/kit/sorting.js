// Headings of tables that sort: a press sets a key of the page's state. Counterpart of `Sort` in layouts/kit/tables.py.

import { propsOf } from "./dash.js";
import { setState } from "./state.js";

document.addEventListener("click", (event) => {
  const button = event.target instanceof Element ? event.target.closest("button.ms-sort") : null;
  const root = button && button.closest("[id$='-root']");
  if (!(button instanceof HTMLElement) || !root) return;
  const store = root.id.replace(/-root$/, "-state");
  const { key = "by", by = "" } = button.dataset;
  setState(store, /** @type {Wire.Query | null} */ (propsOf(store).data || null), { [key]: by ? [by] : [] });
});
