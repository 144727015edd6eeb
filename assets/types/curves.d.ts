// The page of scalars: its record. What the server sends for it is in generated.d.ts.

declare namespace Curves {
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

  type RunList = ReturnType<typeof import("../kit/cards/run_list.js").build> & {
    key: string | null;
    place: import("../kit/cards/lines.js").Place | null;
    timer: number;
  };

  interface Page extends CardsPage {
    extended: { of: Wire.TagCatalogue; key: string; catalogue: Wire.TagCatalogue } | null;
    strict: { box: HTMLElement; draw(): void };
    /** what was asked for marks of insights, null for nothing */
    marked: Wire.Query | null;
    marks: Mark[];
    digests: Digest[];
    looked: number;
    askingAgain: number;
    rankings: number;
    judgings: number;
    ranking: Ranking | null;
    sheetAsk: Wire.Query | null;
    sheet: Sheet | null;
    tableDrawn: FinalTable | null;
    matrixDrawn: LastMatrix | null;
    hoverBefore: { figure: Drawing; width: number; height: number; most: number; left: number; end: "top" | "bottom" } | null;
    hovered: { card: HTMLElement; pointer: Pointer } | null;
    /** the dialog that waits for a verdict */
    threshold: { judged(verdict: Verdict): void } | null;
    runList: RunList;
    /** earlier views of a card or of linked cards */
    trails: Map<string, Trail[]>;
  }
}
