// The page of scalars: what the server sends for it alone, and its record.

declare namespace Curves {
  interface Mark {
    run: string;
    label: string;
    colour: string;
    tag: string;
    kind: string;
    severity: number;
    score: number;
    step: number;
    time: number;
    started: number;
    text: Wire.Texts;
    reason: Wire.Texts;
    /** the range to zoom to */
    view: string;
    /** attributes of a link to what caused it */
    cause: Record<string, string> | null;
  }

  interface Marks {
    marks: Mark[];
    left: number;
  }

  interface Group {
    label: string;
    colour: string;
    hand: boolean;
    n: number;
    runs: string[];
  }

  interface FinalCell {
    text: string;
    value: number | null;
    title?: string;
    wrong?: boolean;
    few?: boolean;
  }

  interface FinalRow {
    tag: string;
    label: string;
    colour: string;
    better: string;
    cells: FinalCell[];
  }

  interface FinalTable {
    columns: string[];
    rows: FinalRow[];
    total: number;
    grouped: boolean;
  }

  /** layouts/curves/scalars/sheet.py */
  interface Sheet {
    ask: Wire.Query;
    few: number;
    groups: Group[] | null;
    settings: string[] | null;
    base: string | null;
    refused: string;
    table: FinalTable | null;
  }

  /** severity and score by kind of insight */
  type Severest = Record<string, [number, number]>;

  interface RankingAnswer {
    from: number;
    next: number;
    total: number;
    tags: Record<string, Severest>;
  }

  interface Ranking {
    key: unknown[];
    runs: string[];
    best: Map<string, Severest>;
    next: number;
    total: number;
    done: boolean;
  }

  interface Verdict {
    number: number;
    reason: string;
    threshold: string;
  }

  /** Where a chart is on screen, and its places: px of the window. */
  interface Plane {
    box: DOMRect;
    left: number;
    right: number;
    x(pixel: number): number;
    toX(value: number): number;
    toY: Record<string, (value: number) => number>;
  }

  /** A card that waits for its chart before marks are put on it. */
  interface MarkedCard extends HTMLElement {
    waits?: number;
  }

  /** The dot of a mark. */
  interface Dot extends HTMLElement {
    mark: Mark;
  }

  /** What a page did before on a card, or on linked ones: views, or all entries of the state. */
  interface Trail {
    view: string;
    zoom: string[];
  }

  interface Pointer {
    x: number;
    y: number;
  }

  /** What a card says of a derived curve. */
  interface Derived {
    error?: { column: number; text: Wire.Texts };
    lacking: number;
    lacking_runs: string[];
    runs: number;
    apart: number;
    apart_runs: string[];
    unpaired: [string, number][];
    superseded: [string, number][];
    undefined: [string, number][];
  }

  type RunList = ReturnType<typeof import("../kit/cards/run_list.js").build> & {
    key: string | null;
    x: number | null;
    timer: number;
  };

  interface Page extends CardsPage {
    extended: { of: Wire.TagCatalogue; key: string; catalogue: Wire.TagCatalogue } | null;
    strict: { box: HTMLElement; draw(): void };
    /** what was asked for marks of insights, null for nothing */
    marked: Wire.Query | null;
    marks: Mark[];
    looked: number;
    askingAgain: number;
    rankings: number;
    ranking: Ranking | null;
    sheetAsk: Wire.Query | null;
    sheet: Sheet | null;
    tableDrawn: FinalTable | null;
    hoverLeft: { figure: Drawing; width: number; left: number } | null;
    hovered: { card: HTMLElement; pointer: Pointer } | null;
    /** the dialog that waits for a verdict */
    threshold: { judged(verdict: Verdict): void } | null;
    runList: RunList;
    /** earlier views of a card or of linked cards */
    trails: Map<string, Trail[]>;
  }
}
