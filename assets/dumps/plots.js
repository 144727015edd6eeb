// Cards with one plot each on pages about dumps (base/plot_cards.js).

import { plotCards } from "../base/plot_cards.js";
import { pageOf } from "./debugging.js";

export const { furnish, drawFull, place, keys } = plotCards(pageOf, (page) => page.dump.name, (page) => page.listed);
