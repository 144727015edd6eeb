// Cards with one plot each on pages about dumps (kit/plot_cards.js).

import { plotCards } from "../kit/plot_cards.js";
import { pageOf } from "./dumps.js";

export const { furnish, drawFull, place, keys } = plotCards(pageOf, (page) => page.dump.name, (page) => Boolean(page.listed));
