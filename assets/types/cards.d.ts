// Pages of cards: assets/cards/pages.js makes the record of a page, cards.js says what a kind has.

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

/** What a page of cards does with them: the head of assets/cards/cards.js explains each. */
interface CardKind {
  build(page: CardsPage): { left: HTMLElement[]; right: HTMLElement[] };
  draw(page: CardsPage): void;
  margins?(page: CardsPage, key: string): number;
  ask(page: CardsPage, key: string): Wire.Query;
  tools(key: string): HTMLElement[];
  files(key: string): HTMLElement[];
  press(page: CardsPage, card: OwnCard, key: string): void;
  painted(page: CardsPage, card: OwnCard, key: string, meta: any): { badges: HTMLElement[]; notes: (HTMLElement | string)[] };
  acts?: Record<string, (page: CardsPage, card: OwnCard, key: string, button: HTMLElement) => unknown>;
  moved?(page: CardsPage, card: OwnCard, key: string, change: Record<string, unknown>): void;
  forFile?(page: CardsPage, card: OwnCard, key: string, figure: PlotlyFigure): PlotlyFigure;
  fileTags?(page: CardsPage, key: string): string[];
  fileRange?(page: CardsPage, key: string): Record<string, string | number>;
  linked?(page: CardsPage, on: boolean): Wire.Query;
  ranked?(page: CardsPage): Map<string, number> | null;
  title?(key: string): string;
  cards?(page: CardsPage): string[] | null;
  bare?(page: CardsPage): boolean;
  catalogue?(page: CardsPage, catalogue: Wire.TagCatalogue): Wire.TagCatalogue;
  tagTools?(page: CardsPage): HTMLElement[];
  sides?(page: CardsPage): string[][] | null;
  putOn?(page: CardsPage, side: string, tag: string): void;
  show?(page: CardsPage, card: SteppedCard, key: string): void;
  keys?(page: CardsPage, key: string): boolean;
  [own: string]: any;
}

/** The record of a page of cards. */
interface CardsPage extends KeptPage {
  kind: CardKind;
  catalogue: Wire.TagCatalogue;
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
}
