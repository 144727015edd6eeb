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
    rows: HTMLInputElement;
    first: HTMLElement;
    stage: HTMLSelectElement;
    align: HTMLButtonElement;
    alone: HTMLButtonElement;
    lines: HTMLSelectElement;
    bar: HTMLElement;
    window: Span | null;
    /** what the facts are about */
    factsOf: Wire.Query | null;
    fetching: AbortController | null;
    viewing: AbortController | null;
    /** timers: until facts are asked for again, memory is, and until the window rests */
    polling: number;
    remembering: number;
    resting: number;
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

declare namespace Cluster {
  /** layouts/jobs/cluster/page.py */
  interface Facts {
    ranks: number;
    metric: string;
    metrics: string[];
    /** what a bar stands for, and what rows can stand for */
    kind: string;
    rows: string[];
    previous: string | null;
    next: string | null;
    /** number of ranks of a group, and its name */
    limited: [number, string] | null;
    /** text key and colour */
    legend: [string, string][];
    /** state, done and total bytes, text */
    reading: [string, number, number, string] | null;
    /** files that would have values, where none has */
    nothing: string[] | null;
    /** whether it is still read why a rank is late */
    causes: boolean;
    damage: [string, string][];
    damaged: number;
    offered: Profiles.Offered | null;
  }

  interface Page extends Profiles.Page {
    metrics: HTMLSelectElement;
    orders: HTMLElement;
    rows: HTMLElement;
    number: HTMLInputElement;
    previous: HTMLButtonElement;
    next: HTMLButtonElement;
    finding: HTMLElement;
    whole: HTMLButtonElement;
    limited: HTMLElement;
    files: HTMLDetailsElement;
    /** what the menu of files was made from */
    filesOf: string;
    facts: Facts | null;
    timerOfRanks: number;
  }
}

declare namespace Traffic {
  /** Values between blocks of ranks: app/routes/jobs/communication.py */
  interface Matrix {
    measure: string;
    rows: number;
    /** NaN for no traffic, below 0 for a bandwidth of few bytes */
    values: Float64Array;
    ranks: number[];
    /** ranks in a block, and how they are joined */
    block: number;
    how: string;
    first: number;
    steps: number;
    cells: number;
    unplaced: number;
  }

  /** layouts/jobs/communication/page.py */
  interface Facts {
    title: string;
    kinds: string[];
    names: string[];
    settings: Record<string, number>;
    links: number;
    /** whether an operation was found, and packets */
    found: boolean;
    packets: boolean;
    offers: Profiles.Offered | null;
  }

  interface Page extends Profiles.Page {
    notes: HTMLElement;
    heat: import("../profiles/heat.js").Heat;
    measure: HTMLElement;
    of: HTMLSelectElement;
    how: HTMLSelectElement;
    inner: HTMLButtonElement;
    by: HTMLElement;
    slowest: HTMLButtonElement;
    name: HTMLSelectElement;
    kinds: HTMLSelectElement;
    /** by SETTINGS of communication/page.js */
    inputs: HTMLInputElement[];
    facts: Facts | null;
    matrix: Matrix | null;
    /** address and mark of the matrix */
    matrixKey: string;
    /** the ranks that are shown closer */
    window: { from?: number, to?: number };
    fetching: AbortController | null;
    /** whether what is asked for late is on screen, and what was asked of it */
    near: boolean;
    nearAsked: Wire.Query | null;
    draws: Wire.Query | null;
    lists: Wire.Query | null;
  }
}

declare namespace JobOverview {
  /** Sizes in px: jobs/job/grid.js */
  interface Grid {
    count: number;
    size: number;
    left: number;
    columns: number;
    rows: number;
    width: number;
    height: number;
  }

  /** Ranks as texts such as 0-3,8: layouts/jobs/job/page.py */
  interface Told {
    of: string;
    size: number;
    missing: string;
    missing_n: number;
    /** file and ranks without it */
    lacking: [string, string][];
    hosts: [string, string][];
    drawn: string;
    alternative: Wire.Texts;
  }

  interface Facts {
    of: string;
    /** the rank that costs most, -1 for none */
    most: number;
    told: string;
    /** whether it is still read why a rank is late */
    causes: boolean;
  }

  interface Known {
    told: Told;
    facts: Facts | null;
    missing: Set<number>;
    /** files that ranks lack */
    lacking: Map<number, string[]>;
    hosts: Map<number, string>;
    /** ranks that only files about all ranks name */
    others: Set<number>;
    cells: number[];
    cellOf: Map<number, number>;
  }

  interface Page extends Profiles.Page {
    canvas: HTMLCanvasElement;
    tip: HTMLElement;
    mark: HTMLElement;
    /** the cell under the pointer, -1 for none */
    cursor: number;
    tables: HTMLDetailsElement;
    grid: Grid;
    known: Known | null;
    facts: Facts | null;
    /** the chosen rank as it is shown, as JSON */
    chosenShown: string;
    timerOfCauses: number;
    /** what was asked of the ranks, and of what limits the job */
    job: Wire.Query | null;
    sum: Wire.Query | null;
  }
}

declare namespace PipelinePage {
  /** layouts/jobs/pipeline/page.py */
  interface Facts {
    bands: string[];
    colours: Record<string, string>;
    stages: number[];
    staged: boolean;
    clocks: boolean;
    /** recorded micro-batches, 0 for unknown */
    micro: number;
    offers: Profiles.Offered | null;
  }

  /** Rows of bands; ns: app/routes/jobs/pipeline.py */
  interface View {
    begin: number;
    end: number;
    columns: number;
    length: number;
    total: number;
    bands: string[];
    /** rank -1 for a folded stage */
    rows: { rank: number, stage: number }[];
  }

  interface Page extends Profiles.Page {
    chart: import("../jobs/pipeline/chart.js").Chart;
    folding: HTMLButtonElement;
    aligning: HTMLButtonElement;
    micro: HTMLInputElement;
    microField: HTMLElement;
    files: HTMLDetailsElement;
    facts: Facts | null;
    view: View | null;
    /** address and mark of the view */
    viewKey: string;
    viewMark: string;
    fetching: AbortController | null;
  }
}

declare namespace StrategyPage {
  type Named = [string, Wire.Texts];

  /** layouts/jobs/strategy/summary.py: values by rows and columns */
  interface Grid {
    rows: number;
    columns: number;
    values: (number | null)[];
    /** -1 for a place without a rank */
    ranks: number[];
    places: Record<string, number[]>;
    rowNames: string[];
    columnNames: string[];
    form: string;
    named: boolean;
    whole: boolean;
    unit: string;
    name: Wire.Texts;
    said: Wire.Texts;
  }

  interface Summary extends PartAnswer {
    sections?: Record<string, Graphs.PlainHtml[]>;
    grid: Grid | null;
    metrics: Named[];
    metric: string;
    stages: unknown;
    offered: Profiles.Offered | null;
  }

  /** What is kept of the canvas (graphs/canvas.js) beside its own fields: graph.js */
  interface Canvas extends Graphs.CanvasPage {
    drawing: any;
    /** scopes that were opened to show a box */
    kept: string[] | null;
    wanted: Wire.Query | null;
    about: Wire.Query;
  }

  interface Page extends Profiles.Page {
    parts: Map<string, AskedPart>;
    kind: Body.Kind<Body.Page>;
    metrics: HTMLSelectElement;
    heat: import("../profiles/heat.js").Heat;
    said: Summary | null;
    /** language of the grid */
    shownIn: string;
    graph: Canvas;
    stageChoice: HTMLSelectElement;
    fileChoice: HTMLSelectElement;
    phases: HTMLButtonElement[];
    kinds: HTMLButtonElement[];
    collapse: HTMLButtonElement;
    counters: HTMLElement;
  }
}
