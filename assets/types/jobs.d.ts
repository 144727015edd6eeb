// Pages about a job: what the chart of ranks knows, and the record of the page about two jobs.

declare namespace Ranks {
  type Chart = import("../jobs/ranks/chart.js").Chart;
  type Theme = "light" | "dark";
  type Colour = (name: string) => string;

  /** A rank as the server describes it: layouts/jobs/rank_operators.py. Unknown numbers are below 0 or null. */
  interface Rank {
    rank: number;
    stage: number;
    /** number of the set of ranks whose clocks are aligned with each other, -1 for none */
    part: number;
    residual_ns: number | null;
    shift_ns: number;
    worst_ns: number;
    [column: string]: number | null;
  }

  interface Facts {
    state: string;
    /** of what is shown, ns */
    length: number;
    ranks: Rank[];
    /** all ranks of the job, by stages */
    order: number[];
    stages: number[][];
    steps: number[];
    categories: string[];
    aligned: boolean;
    alternative: Wire.Texts;
    left_out: number;
    absent: number[];
    wrong: Record<string, string>;
    problems: { rank: number; text: string }[];
    zeros: boolean;
  }

  /** ns */
  interface Span {
    from: number;
    to: number;
  }

  /** Columns of what is drawn: parsers/analysis/jobs/rank_operators/views.py */
  type Columns<Names extends string> = { length: number } & Record<Names, Float32Array | Uint32Array | Uint16Array | Uint8Array>;

  interface View extends Span {
    columns: number;
    operators: number;
    merged: number;
    joined: number;
    bundled: number;
    wide: number;
    bars: Columns<"row" | "lane" | "x0" | "x1" | "category" | "joined" | "operator">;
    cells: Columns<"row" | "lane" | "x0" | "x1" | "category" | "share" | "count">;
    joins: Columns<"row" | "category" | "a0" | "a1" | "b0" | "b1">;
  }

  interface Row {
    stage: number;
    top: number;
    split: number;
    bottom: number;
  }

  interface Grid {
    rows: Row[];
    pitch: number;
    room: number;
    top: number;
    height: number;
  }

  interface Point {
    x: number;
    y: number;
  }

  /** What lies under a pointer: a place in the bars or in the cells. */
  type Hit = { bar: number; cell?: undefined } | { cell: number; bar?: undefined };

  /** An operator on one of the ranks that have it. */
  interface Same {
    rank: number;
    operator: number;
    begin: number;
    duration: number;
  }

  /** An operator; only its place until the server has described it. */
  interface Picked extends Partial<Operator> {
    rank: number;
    operator: number;
  }

  interface Operator extends Same {
    name: string;
    type: string;
    category: string;
    group: string;
    step: number;
    occurrence: number;
    /** number of the last operator of the rank */
    last: number;
    same: Same[];
  }

  interface Memory extends Span {
    rows: { rank: number; low: number[]; high: number[] }[];
    without: number[];
    most: number;
    levels: number;
  }

  /** Values beside the ranks. */
  interface Line {
    title: string;
    values: (number | null)[];
    text(value: number): string;
  }

  interface Acts {
    look(range: Span, resized?: boolean): void;
    pick(picked: { rank: number; operator: number; spoken?: boolean } | null): void;
    /** null while it is on its way */
    name(rank: number, operator: number): Operator | null;
  }

  /** Says a sentence by its text key. */
  type Say = (key: string, values: TextValues, tone?: string) => unknown;

  interface Page extends Profiles.Page {
    facts: Facts;
    /** operators by "rank,number", empty while on their way */
    names: Map<string, Partial<Operator>>;
    chart: Chart;
    head: HTMLElement;
    drawn: HTMLElement;
    panel: HTMLElement;
  }
}

declare namespace TwoJobs {
  /** layouts/jobs/two_jobs/figure.py: the number of ranks, of those that are drawn, and whether none differs */
  interface Figure extends PlotlyFigure {
    layout: PlotlyLayout & { meta: { ranks: number, drawn: number, alike: boolean } };
  }

  /** layouts/jobs/two_jobs/page.py */
  interface Facts {
    sections: Record<string, Graphs.PlainHtml[]>;
    metrics: string[];
    metric: string;
    offers: Profiles.Offered | null;
  }

  interface Page extends Profiles.Page {
    metric: HTMLSelectElement;
    by: HTMLElement;
    swap: HTMLButtonElement;
  }
}
