// The page of the debugger: its record, and what the server sends for it (layouts/dumps/debugger).

declare namespace Debugger {
  /** Operators by their numbers in the tree: [first, end), ascending and separate. */
  type Range = [number, number];

  /** A tensor in which a watchpoint found something, or which it could not check: hits.py */
  interface Hit {
    row: number;
    watch: number;
    parameter: string;
    rank: number;
    step: number;
    graph: number;
    name: string;
    type: string;
    io: string;
    wanted: number | string | null;
    actual: number | string | null;
    excluded: number;
    /** why it was not checked, "" if it was */
    why: string;
  }

  interface Hits extends PartAnswer {
    progress: Body.Progress | null;
    /** what is listed, of which rows are from `first` on */
    total: number;
    first: number;
    rows: Hit[];
    hits: number;
    unchecked: number;
    /** of each watchpoint: tensors checked, and hits and checks that were not possible */
    checked: number[];
    counts: [number, number][];
    graphs: number[];
    /** rank, iteration, hits */
    steps: [number, number, number][];
    /** hits of the selected operator in this iteration */
    node: Hit[];
  }

  /** The first operator with bad values in an iteration: health.py */
  interface Cause {
    rank: number;
    iteration: number;
    name: string;
    source: string;
    origin: "here" | "before" | "rank" | "unknown";
    from_name: string;
    from_rank: number;
    affected: number;
    operators: number;
  }

  interface Health extends PartAnswer {
    /** rank, iteration, operators with bad values, operators with values */
    bad: [number, number, number, number][];
    /** rank, iteration, operators with values */
    checked: [number, number, number][];
    causes?: Cause[];
  }

  /** The runs of root graphs in their order: strip.py */
  interface Runs extends PartAnswer {
    step: number[];
    graph: number[];
    tensors: number[];
    /** other graphs that ran in an iteration */
    with: Record<string, number[]>;
  }

  /** What a parameter of a condition may be: watching.py */
  interface Limit {
    name: string;
    default: number | null;
    least: number | null;
    greatest: number | null;
    above: boolean;
    /** whether it only says which values count */
    range: boolean;
    needs: string[];
  }

  interface Condition {
    name: string;
    short: string;
    target: string;
    limits: Limit[];
  }

  interface Watchpoint {
    condition: string;
    limits: Record<string, any>;
    /** null for all operators */
    names: string[] | null;
    pattern: string;
    enabled: boolean;
    /** how its operators were chosen, and what the form says of that */
    by: string;
    said: string;
  }

  interface Watching {
    /** key of the dump */
    run: string;
    list: Watchpoint[];
    /** of what is saved */
    version: string;
    saved: boolean;
    kept: boolean;
    conditions: Condition[];
    recommended: Watchpoint[];
    /** whether they could not be saved and stay in the page */
    unsaved: boolean;
    message: string;
    /** those that are enabled, as the server is asked about them */
    json: string;
  }

  /** A watchpoint in the form: watch_form.js */
  interface Draft extends Omit<Watchpoint, "limits"> {
    /** in the list, null for a new one */
    place: number | null;
    /** parameters as they are typed */
    values: Record<string, string>;
    ranges: Range[];
    /** why a value is refused, by parameter */
    wrong: Record<string, [string, TextValues]>;
    limits(): Record<string, number>;
    /** null if a value is refused */
    made(): Watchpoint | null;
  }

  /** rows.js */
  interface RowList {
    readonly total: number;
    /** the first row on screen and how many to ask for */
    window(): [number, number];
    put(answer: { total: number, first: number, rows: any[] }, keep?: boolean): void;
    reset(): void;
    repaint(): void;
    seek(number: number): void;
  }

  /** The list of hits: hits.js */
  interface HitFields {
    hits: Hits | null;
    hitRows: RowList;
    /** short names of the hits that were sent, which are told apart */
    hitNames: { name: string }[];
    hitControls: Record<"show" | "sort" | "step" | "rank" | "graph" | "watch", any>;
    /** what was asked, and what that lists, as JSON */
    hitsAsked: string;
    hitsListed: string;
    /** place of the hit that was gone to, null before */
    hitAt: number | null;
  }

  /** The tree of operators and the lines of source: nodes.js, lines.js */
  interface TreeFields {
    nodeRows: RowList;
    nodeControls: { input: HTMLInputElement, regex: HTMLButtonElement, kind: HTMLSelectElement, take: HTMLButtonElement };
    /** what the tree is about, null before it is asked for */
    nodesOf: string | null;
    /** the operator that was scrolled to */
    soughtNode: string;
    lineRows: RowList;
    lineInput: HTMLInputElement;
  }

  /** Watchpoints: watch.js */
  interface WatchFields {
    watching: Watching | null;
    draft: Draft | null;
    watchTools: Record<"usual" | "clear", HTMLButtonElement>;
    /** number of questions about names */
    nameTurn: number;
    /** the line of source whose operators are being added */
    addedLine: string;
  }

  /** What is kept of the canvas (graphs/canvas.js) beside its own fields: graph.js */
  interface Canvas extends Graphs.CanvasPage {
    drawing: any;
    /** full names by box, and boxes by full names */
    full: Record<string, string>;
    boxes: Map<string, string>;
    /** of the graph that is drawn */
    number: number | null;
    /** dump, rank and iteration of the drawing */
    key: string;
    /** scopes that were opened to show a box */
    kept: string[] | null;
    wanted: Wire.Query | null;
  }

  /** The graph, or without one the operators in the order they ran: graph.js */
  interface GraphFields {
    graph: Canvas;
    graphChoice: HTMLSelectElement;
    near: HTMLButtonElement;
    /** whether operators are listed in their order */
    ordered: boolean;
    orderRows: RowList;
    /** the operator that was scrolled to */
    orderedNode: string | null;
  }

  /** Executions: strip.js */
  interface StripFields {
    runs: Runs | null;
    cells: HTMLDivElement;
    /** the iteration that was scrolled to */
    shownStep: number | null;
  }

  /** Value and exact value as texts. */
  type Shown = [string, string];

  /** A tensor of the selected operator: selected_facts.py */
  interface Tensor {
    row: number;
    id: string;
    io: string;
    slot: number;
    key: string;
    dtype: string;
    shape: string;
    format: string;
    size: string;
    status: string;
    source: string;
    problem: string;
    statistics: Record<string, Shown>;
    non_finite: number;
    parameter: string;
    occurrence: number;
    from: { node: string, io: string, step: number } | null;
  }

  interface Tensors extends PartAnswer {
    mark: string;
    name: string;
    recorded: string;
    type: string;
    graph: number;
    /** the chosen tensor: its row and id */
    row: number;
    chosen: string;
    /** the iteration before with it, and another one with tensors of the operator */
    before: number | null;
    other: number | null;
    tensors: Tensor[];
    more: number;
    stack: { file: string, first: number, last: number, code: string, own: boolean }[];
  }

  /** A tensor beside the chosen one: selected_compare.py */
  interface Comparison extends PartAnswer {
    reason?: string;
    problem?: string;
    with: { run: string, row: number, mark: string } | null;
    node: string;
    io: string;
    ids: string[];
    rank: number;
    ranks: number[];
    step: number;
    steps: number[];
    shapes: number[][];
    dtypes: string[];
    sizes: number[];
    result: any;
  }

  /** The selected operator: selected.js, selected_values.js, selected_compare.js */
  interface Selected {
    root: HTMLElement;
    part(name: string): any;
    stat: HTMLSelectElement;
    answer: Tensors | null;
    /** what watchpoints say, by row of the tensor */
    hits: Map<number, string[]>;
    /** the chosen tensor */
    tensor: Tensor;
    comparison: Comparison | null;
    asked: Wire.Query | null;
    /** percent of the largest difference */
    tolerance: number;
    compare: any;
    values: Values;
  }

  /** The table of values, and what it shows. */
  interface Values {
    grid: any;
    look: { elements: HTMLElement[], draw(state: Wire.Query): void };
    boxes: HTMLElement;
    dims: HTMLElement;
    show: HTMLElement;
    bad: HTMLButtonElement;
    save: HTMLAnchorElement;
    /** the tensor that is wanted and the one that is shown, for the boxes of dimensions */
    key: string;
    keyShown: string;
    /** what the server says of the tensor */
    about: any;
    which: string;
    asked: string;
    wanted: any;
    loading: boolean;
  }

  interface Page extends Dumps.Page, HitFields, TreeFields, WatchFields, GraphFields, StripFields {
    /** the iteration that is shown first, null for the last one, of the dump with this key */
    firsts: { key: string, step: number | null } | null;
    /** when the dump with this key was opened, ms */
    since: { key: string, at: number } | null;
    health: Health | null;
    selected: Selected;
    /** number of files that were saved */
    saved: number;
  }
}
