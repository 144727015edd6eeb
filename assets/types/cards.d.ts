// Pages of cards: assets/kit/cards/pages.js makes the record of a page, cards.js says what a kind has.

/** slot, drawing or null for none, stamp of its data or the reason of a refusal */
type Answer = [number, Drawing | null, string];

interface Position {
  step: number;
  nth: number;
  text: string;
}

/** A series of recorded values, decoded. */
interface Stepped extends Omit<Wire.RecordedSeries, "steps"> {
  steps: number[];
  places: Map<number, number[]>;
  order: number[];
}

interface SteppedCard extends HTMLElement {
  stepped: Stepped[];
  steppedKey?: string;
  positions: Position[];
}

/** A card to which its page adds fields of its own. */
type OwnCard = any;

/** What a button of a card does; a page only has buttons of its own kind. */
type CardAct<Page> = { act(page: Page, card: OwnCard, key: string, button: HTMLElement): unknown }["act"];

/** The records of the pages of cards by their names; the others have no fields of their own. */
interface CardPages {
  scalars: Curves.Page;
  histograms: Histograms.Page;
  images: Images.Page;
  tensors: CardsPage;
  text: RecordedTexts.Page;
}

/** What a page of cards does with them: the head of assets/kit/cards/cards.js explains each. */
interface CardKind<Page extends CardsPage = CardsPage> {
  /** what a page of this kind has beside the fields of all */
  fields?(page: Page): object;
  build(page: Page): { left: HTMLElement[]; right: HTMLElement[] };
  draw(page: Page): void;
  margins?(page: Page, key: string): number;
  ask(page: Page, key: string): Wire.Query;
  tools(key: string): HTMLElement[];
  files(key: string): HTMLElement[];
  press(page: Page, card: OwnCard, key: string): void;
  painted(page: Page, card: OwnCard, key: string, meta: any): { badges: HTMLElement[]; notes: (HTMLElement | string)[] };
  acts?: Record<string, CardAct<Page>>;
  moved?(page: Page, card: OwnCard, key: string, change: Record<string, number | string | undefined>): void;
  forFile?(page: Page, card: OwnCard, key: string, figure: Drawing): PlotlyFigure;
  fileTags?(page: Page, key: string): string[];
  fileRange?(page: Page, key: string): Record<string, string | number>;
  linked?(page: Page, on: boolean): Wire.Query;
  ranked?(page: Page): Map<string, number> | null;
  title?(key: string): string;
  cards?(page: Page): string[] | null;
  bare?(page: Page): boolean;
  catalogue?(page: Page, catalogue: Wire.TagCatalogue): Wire.TagCatalogue;
  tagTools?(page: Page): HTMLElement[];
  sides?(page: Page): string[][] | null;
  putOn?(page: Page, side: string, tag: string): void;
  show?(page: Page, card: SteppedCard, key: string): void;
  keys?(page: Page, key: string): boolean;
  [own: string]: any;
}

/** The record of a page of cards. */
interface CardsPage extends KeptPage {
  kind: CardKind;
  /** the only tag that has a card here; null for all of them */
  only: string | null;
  catalogue: Wire.TagCatalogue;
  /** px of the column of tags in which names can be told apart */
  sideNeeds?: number;
  /** number of cards on a page */
  usual: number;
  /** keys on this page of cards, in order */
  shown: string[];
  items: any[];
  pins: string[];
  sections: { prefix: string; tags: string[]; folded: boolean; headed: boolean }[];
  spread: { items: any[]; keys: string[]; first: number; total: number; number: number };
  perPage: number;
  paged: boolean;
  /** tags that pass filter and ticks */
  chosen: string[];
  /** key and request of each slot */
  keys: (string | null)[];
  asks: (Wire.Query | null)[];
  requested: (Wire.Query | null)[];
  waiting: Map<number, string>;
  requests: number;
  held: boolean;
  stamps: (string | null)[];
  queue: Map<number, { drawing: Drawing | null; stamp: string; ask: Wire.Query | null }>;
  showing: boolean;
  drawings: Map<number, Drawing>;
  answered: Map<number, Wire.Query | null>;
  cardsBySlot: Map<number, HTMLElement>;
  part(part: string, slot: number): any;
  slot(number: number | string | undefined): any;
  request(slots: number[]): void;
  release(): void;
  /** timers */
  nearing: number;
  settling: number;
  writing: number;
  columns: string | undefined;
  makingSlots: boolean;
  heads: Map<string, HTMLElement>;
  layoutMenu: HTMLDetailsElement;
  linkButton: HTMLButtonElement | null;
  layoutControls: any;
  /** list of tags */
  open: Map<string, boolean>;
  drawnUpTo: Map<string, number>;
  groups: { name: string; prefix: string; tags: string[] }[];
  drawn: string;
  drawnCatalogue: Wire.TagCatalogue | null;
  /** stepping */
  moving: Map<string, string>;
  positions: Position[] | null;
  positionsOf: number[][];
  hovered: any;
  linkedCards: HTMLElement[];
  threshold: any;
  runList: any;
  trails: any;
  tensorLook: any;
  tensorHistogram: { view: HTMLElement, axis: HTMLElement } | undefined;
}
