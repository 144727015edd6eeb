// Pages of runs: what the server sends for them alone, and their records.

declare namespace Boards {
  /** A place on the grid, in columns and rows. */
  type Placed = Pick<Wire.BoardCard, "key" | "x" | "y" | "w" | "h">;

  /** Some fields of a card; was is the version that a change is based on. */
  type Change = Partial<Wire.BoardCard> & { key: string; was?: string };

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
