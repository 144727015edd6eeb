// Pages about one run's data of a kind: assets/kit/body.js keeps what their records have in common.

declare namespace Body {
  /** What catalogues of every subject have: which of the chosen runs have such data, and why not. */
  interface Catalogue {
    /** number of chosen runs */
    chosen: number;
    /** number of runs with such data that are not listed */
    left: number;
    /** number of runs that are not read yet */
    waiting: number;
    damage: Wire.FileAndText[];
    /** other runs that have such data */
    elsewhere: Wire.KeyAndName[];
  }

  /** How far reading or work is: layouts/kit/page_parts.py */
  interface Progress {
    state: string;
    done?: number;
    total?: number;
    text?: string;
    /** what is read before, if that is known */
    ahead?: Wire.ReadFirst;
  }

  /** The damage found, and the number of problems left out: layouts/kit/body.py */
  interface Damage {
    problems?: Wire.DamagedFile[];
    more?: number;
    /** number of notes among the problems and beyond, of which nothing is lost */
    notes?: number;
  }

  /**
   * What a page of a subject (whose records are Of) does: fields makes those of its record, build runs once, draw after every change of the state, the catalogue or
   * the reading, answers take those of its parts.
   */
  interface Kind<Own extends Page, Of extends Page = Page> {
    fields?(page: Own): Omit<Own, keyof Of>;
    build?(page: Own): void;
    draw?(page: Own): void;
    answers?: Record<string, (page: Own, answer: PartAnswer) => void>;
  }

  interface Page extends KeptPage {
    catalogue: Catalogue;
    /** the last answer about what is wanted */
    reading: Progress | null;
    /** what the server was asked to read, and what the page was last about */
    wanted: Wire.Query | null;
    asked: Wire.Query | null;
    kind: Kind<Page>;
    /** keys of the state that the server gets */
    keys: string[];
    /** what can be chosen beside the run */
    choices: string[];
    /** whether a second choice can be made, to compare with */
    compared: boolean;
    /** whether there is anything to show */
    chosen: boolean;
    /** says how many runs are not listed */
    left: HTMLElement;
    /** the page's own tools in the toolbar */
    tools: HTMLElement;
    /** counts what was wanted */
    turn: number;
    timer: number;
  }

  /** A subject: the counterpart of BodySubject in layouts/kit/body.py. */
  interface Subject<Own extends Page> {
    /** the prefix of its text keys */
    name: string;
    /** the keys of the state that are about one run, which another run forgets */
    forgets: string[];
    /** the fields of its records beside those of every page */
    fields(root: HTMLElement, page: Own): Omit<Own, keyof Page>;
    /** the children of the toolbar */
    controls(page: Own): (Node | string)[];
    /** Choose what the state names; false if there is nothing to choose. */
    choose(page: Own): boolean;
    /** what the server has to read of what is chosen */
    wantedOf(page: Own): Wire.Query;
    drawControls(page: Own): void;
    /** the name of the state of what is chosen, "" for the content */
    stateOf(page: Own): string;
    /** What the address names and the chosen runs do not have; "" for nothing. */
    unknownOf?(page: Own): string;
    /** the name of the state while nothing is chosen, if it is another one */
    emptyState?(page: Own, name: string): string;
    /** Draw what else depends on the state. */
    drawState?(page: Own, name: string): void;
    /** the reason and the problems that the states failed and nothing show */
    wrongOf?(page: Own): { text?: string, problems?: Wire.DamagedFile[] };
    damageOf(page: Own): Damage | null;
    /** what the page is about, without keys of the state; null until it can be drawn. fresh: something else is wanted now */
    askOf?(page: Own, fresh: boolean): Wire.Query | null;
    /** whether the page can be drawn */
    isReady(page: Own): boolean;
    /** whether the last answer is not final */
    isUnfinished(page: Own): boolean;
  }
}
