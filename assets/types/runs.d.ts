// Pages of runs: what the server sends for them alone, and their records.

declare namespace Boards {
  /** A place on the grid, in columns and rows. */
  type Placed = Pick<Wire.BoardCard, "key" | "x" | "y" | "w" | "h">;

  /** Some fields of a card; was is the version that a change is based on. */
  type Change = Partial<Wire.BoardCard> & { key: string; was?: string; seen?: Record<string, unknown> };

  /** What a message offers: text key, act. */
  type Offer = [string, () => void];

  /** The new place of a card after it was dragged by columns and rows. */
  type Step = (cards: Wire.BoardCard[], card: Wire.BoardCard, dx: number, dy: number) => Wire.BoardCard[];

  /** An element that holds the frame of a card. */
  interface Held {
    page: Page;
    host: HTMLElement;
    card: Wire.BoardCard;
    name: string;
    changed(place: string | null): void;
    named(title: Element | null): void;
    frame: HTMLIFrameElement | null;
    /** the card in the document of the board */
    apart: { end(): void; news(version: unknown): void } | null;
    /** it could not be drawn in the document of the board */
    framed: boolean;
    /** place that users have made of the page, null for the saved one */
    live: string | null;
    inView: boolean;
    touched: boolean;
    /** there are data that the frame has not been told of */
    stale: boolean;
    /** timer */
    leaving: number;
    /** the frame has loaded */
    end(): void;
  }

  interface Page extends KeptPage {
    book: Wire.Notebook;
    rows: Wire.RunRow[] | null;
    /** as on screen, with changes that are still being sent; none in the list of boards */
    board: Wire.Board;
    /** of the board wanted, "" for the list */
    key: string | null;
    /** the last state of a board that is gone */
    lost: Wire.Board | null;
    deleted: { text: string; board: Wire.Board } | null;
    /** number of changes that are being sent */
    saving: number;
    /** what this window has set, by card and field; known is the number of the last loss before that */
    mine: Map<string, { key: string; name: string; value: unknown; known: number }>;
    editable: boolean;
    /** cards that keys have moved, until that is saved */
    stepped: Wire.BoardCard[] | null;
    /** timer */
    stepping: number;
    elements: Map<string, HTMLElement>;
    /** what the texts were rendered from */
    texts: string;
    /** addresses of our routes and of pages */
    routes: string;
    app: string;
    nameOf(card: Wire.BoardCard): string;
    take(board: Wire.Board | null, mine?: boolean): void;
    fetch(): void;
    missing(): void;
    remove(key: string): void;
  }
}

declare namespace Overview {
  /** A page on screen: the run shown, the chosen ones (key, name and place of the row), and the state. */
  interface View {
    of: string;
    runs: [string, string, number][];
    state: Wire.Query;
  }

  /** The place of the control of how strict insights are. */
  interface Strict extends HTMLElement {
    draw?: () => void;
  }

  /** The card of insights, and what was last said of them. */
  interface Card extends HTMLElement {
    state?: Wire.InsightsLeft;
  }
}

declare namespace RunTable {
  type View = import("../runs/runs/page.js").View;
  type Columns = import("../runs/runs/columns.js").Columns;

  /** A value of a column that users add. */
  type Value = number | string | null;

  /** A row of the grid: a run, or the head of a group. */
  interface Row extends Wire.RunRow {
    grid: string;
    note?: Wire.Note;
    group?: undefined;
  }

  /** A column of a group: n runs have a finite value. */
  interface GroupNumber {
    id: string;
    name: string;
    n: number;
    mean: number;
    low: number;
    high: number;
  }

  interface GroupRow extends Pick<Wire.RunRow, "key" | "members" | "tags" | "name" | "real" | "updated"> {
    grid: string;
    group: Pick<Group, "value" | "column" | "depth"> & {
      /** number of runs */
      count: number;
      numbers: GroupNumber[];
      /** runs whose main scalar ended with a value that is not finite */
      diverged: number;
    };
  }

  /** A group within the groups above it. */
  interface Group {
    key: string;
    value: Value;
    column: string;
    runs: Row[];
    /** 1 for the outermost */
    depth: number;
    children: Map<string, Group>;
  }

  interface RowNode extends GridNode {
    data: Row | GroupRow;
  }

  /** A cell of the grid: what its renderer gets. */
  interface Cell {
    data: Row;
    value: number | null;
  }

  interface GroupCell {
    data: GroupRow;
  }

  /** Values of a column by run; whether they are numbers is found out when somebody asks. */
  interface Column extends Map<string, Value> {
    numeric?: boolean;
  }

  /** What is known of a regular expression: whether texts match, texts that wait, why there is no result. */
  interface Pattern {
    texts: Map<string, boolean>;
    wanted: Set<string>;
    error: string;
  }

  /** Which columns are shown, and widths as "column:width"; undefined as usual. */
  interface Layout {
    col?: string[];
    width?: string[];
  }

  /** A column of the list, as dash-ag-grid takes it. */
  interface Definition {
    colId: string;
    label: Wire.Texts;
    filter?: unknown;
    [more: string]: unknown;
  }

  /** kind and score of each insight of a run, and the stamp of its data */
  interface Insights {
    stamp: string | undefined;
    found: [string, number][];
  }
}
