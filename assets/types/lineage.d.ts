// Pages of lineage: what the server sends (layouts/lineage), and the records of pages.

declare namespace Lineage {
  /** NaN and infinities of numbers are texts; null is missing. */
  type Value = number | string | null;

  /** layouts/lineage/drawing.py */
  interface Column {
    name: string;
    label: Wire.Texts;
    full: Wire.Texts;
    group: string;
    numeric: boolean;
    unit: string;
    /** whether it can be an axis */
    axis: boolean;
    differs: boolean;
    /** of all runs, by their places */
    values: Value[];
    scale: string;
    /** the most frequent value, where it is compared */
    usual: Value[];
  }

  /** layouts/lineage/drawing.py: nodes and left are those of pipelines. */
  interface Sheet {
    keys: string[];
    groups: [string, Wire.Texts][];
    /** groups in the order of their axes */
    axes: string[];
    columns: Column[];
    default: string[];
    ranked: string[];
    colour: string;
    sort: string;
    damage: Wire.FileAndText[];
    stamp: string;
    /** operations by group and mark of a pipeline */
    nodes?: Record<string, Record<string, number>>;
    left?: { runs: number; columns: number };
    /** what is said on hover of last values that are not finite, by run and column */
    tips?: Record<string, Record<string, Wire.Texts>>;
  }

  /** layouts/lineage/parallel.py: an axis of the figure. */
  interface Axis {
    name: string;
    kind: string;
    scale: string;
    constant: number;
    low: number;
    high: number;
    /** places of what stands apart from the axis, by name */
    apart: Record<string, number>;
    categories: string[];
  }

  /** From and to on an axis. */
  type Stretch = number[];

  /** What a brush means: ranges with null for an end of the axis, and names of categories or of what stands apart. */
  interface Brush {
    ranges: (number | null)[][];
    names: string[];
  }

  /** layouts/lineage/parallel.py: the key to the colours. */
  interface Key {
    name: string;
    scale: string;
    grey: string;
    apart: boolean;
    stops?: string[];
    ticks?: [number, string][];
    entries?: [string, string][];
    left?: number;
  }

  interface Dimension {
    name: string;
    label: string;
    values: Wire.SentArray;
    range: Stretch;
    tickvals: number[];
    ticktext: string[];
    /** what is said of its scale after its label */
    scale?: string;
  }

  interface Line {
    color: string | Wire.SentArray;
    colorscale: [number, string][];
    cmin: number;
    cmax: number;
  }

  interface FigureMeta {
    keys: string[];
    axes: Axis[];
    key?: Key;
    alternative: [string, string];
  }

  interface Figure {
    data: { dimensions: Dimension[]; line: Line }[];
    layout: { margin: { l: number; r: number }; meta: FigureMeta; [more: string]: unknown };
  }

  /** What a page does with its lines over parallel axes. */
  interface ParallelActs {
    brushed(brushes: Map<string, Stretch[]>): void;
    reordered(names: string[]): void;
    opened(row: number): void;
    tip(row: number, colour: string): HTMLElement[];
  }

  /** What plots are drawn with, on a canvas or into an SVG file. */
  type Pen = CanvasRenderingContext2D | import("../kit/vector.js").Vector;

  /** Lines that are drawn on a canvas, and how many of them are. */
  interface LinesPart {
    canvas: HTMLCanvasElement;
    rows: Uint32Array;
    at: number;
    /** of all lines, or one for them */
    colours: string | string[];
    alpha: number;
  }

  /** A drawing of lines over one or several frames, from what was known when it began. */
  interface ParallelJob {
    parts: LinesPart[];
    /** the part that is being drawn */
    at: number;
    across: number[];
    heights: Float32Array[];
    width: number;
    height: number;
    /** pixels per px */
    scale: number;
    /** width of a line, px */
    thin: number;
    /** lines per frame */
    most: number;
    /** whether it takes several frames */
    parted: boolean;
    /** whether all lines are held, so that none is seen below them */
    whole: boolean;
  }

  /** Lines over parallel axes: their elements, and how they are drawn; sizes in px. */
  interface ParallelPlot {
    host: HTMLElement;
    acts: ParallelActs;
    /** canvases of all lines, and of those that are held */
    below: HTMLCanvasElement;
    above: HTMLCanvasElement;
    svg: SVGSVGElement;
    tip: HTMLElement;
    /** the line near the pointer */
    near: SVGElement;
    /** canvases that are not on the page, by those on it: what is drawn over several frames */
    sheets: Map<HTMLCanvasElement, HTMLCanvasElement>;
    /** the value of a css variable */
    css(name: string): string;
    redraw(): void;
    figure: Figure | null;
    brushes: Map<string, Stretch[]>;
    across: number[];
    /** of rows, by axis */
    heights: Float32Array[];
    colours: string[];
    /** 1 for rows within all brushes, and their number */
    held: Uint8Array;
    shown: number;
    width: number;
    height: number;
    /** the axis or brush that is being dragged */
    dragged: {
      axis: number; from: number[]; place: number; before: Stretch[]; held: number; x: number | null; title: boolean;
    } | null;
    ticks: { y: number; text: string; whole: string }[][];
    titles: string[];
    /** the frame that is asked for, 0 for none */
    frame: number;
    job: ParallelJob | null;
    /** the lines that are drawn next */
    wanted: "" | "held" | "all";
  }

  /** A row of the table: a run, or equal pipelines; values are under "=" and their column. */
  interface Row {
    key: string;
    name: string;
    members: string[];
    /** id of the root of the page */
    root: string;
    tags: Record<string, number>;
    colour: string | undefined;
    note: Wire.Note | null;
    [column: `=${string}`]: Value | undefined;
  }

  /** An axis of the scatter view: places of all runs, and its ticks. */
  interface ScatterAxis {
    meta: Axis;
    places: Numbers;
    range: Stretch;
    ticks: { at: number; text: string }[];
  }

  interface Panel {
    x: string;
    y: string;
    left: number;
    top: number;
    width: number;
    height: number;
    /** whether titles stand below it, and beside it */
    low: boolean;
    first: boolean;
  }

  /** x and y */
  type Place = number[];

  interface Box {
    panel: Panel;
    from: Place;
    to: Place;
  }

  interface Look {
    font: string;
    text: string;
    muted: string;
    line: string;
    strong: string;
    accent: string;
  }

  /** The scatter view once it was shown. */
  interface Board {
    host: HTMLElement;
    canvas: HTMLCanvasElement;
    tip: HTMLElement;
    panels: Panel[];
    /** the box that is being dragged */
    box: Box | null;
    figure: Figure | null;
    axes: Map<string, ScatterAxis>;
    colours: string[];
  }

  /** What the points of the scatter view are drawn with. */
  interface Drawn {
    look: Look;
    keys: string[];
    shown: Set<string> | null;
    brushed: Map<string, Brush>;
    radius: number;
  }

  interface Page extends KeptPage {
    sheet: Sheet;
    runs: RunList;
    api: GridApi;
    columns: Map<string, Column>;
    /** places of runs in the values of columns */
    places: Map<string, number>;
    figure: Figure;
    /** keys of runs that pass the brushes, null for all */
    passing: Set<string> | null;
    tools: ReturnType<typeof import("../lineage/toolbars.js").build>;
    board: Board;
    /** measures texts */
    pen: CanvasRenderingContext2D;
    /** width of the plot, px; also in steps, as the server gets it */
    width: number;
    stepped: number;
    /** number of axes that are shown by default */
    room: number;
    /** what the list of columns, the rows and the columns of the table were made from */
    listed: string;
    rowMark: string;
    columnMark: string;
    /** what the plot was drawn from */
    drawnFigure: Figure | null;
    look: unknown[] | null;
    plot: ReturnType<typeof import("../lineage/parallel.js").parallelPlot>;
    /** chosen runs by the button, and those before */
    chosen: string[];
    before: string[] | undefined;
    /** key of a run to that of its job, of these rows */
    jobs: Map<string, string>;
    jobsIn: Wire.RunRow[] | null;
  }

  /** layouts/lineage/optimisation/explained.py: value, low and high of a strength. */
  type Ends = [number | null, number | null, number | null];

  type Measure = "linear" | "rank" | "share";

  interface SettingRow {
    setting: string;
    levels: number;
    runs: number;
    /** whether it is a category */
    text: boolean;
    /** whether its strength is an η */
    eta: boolean;
    /** whether it tells apart runs that differ by chance, so that there is no best one */
    seed: boolean;
    linear: Ends;
    rank: Ends;
    /** why it has no strength, "" where it has one */
    reason: string;
    shape: string;
    /** lowest and highest value of the runs by which the shape was judged, none for categories */
    tried: string[];
    /** the setting that it cannot be told from, or that goes along with it */
    with: string;
    strength: number | null;
    /** settings that cannot be told from it */
    for: string[];
  }

  interface RunWithSettings {
    run: string;
    settings: Record<string, string>;
  }

  /** The part from runs on is there where there is a target. */
  interface ResultSheet {
    total: number;
    chosen: number;
    jobs: number;
    target: string;
    targets: { name: string; label: Wire.Texts }[];
    settings: Record<string, Wire.Texts>;
    damage: Wire.FileAndText[];
    stamp: string;
    rows: SettingRow[];
    runs: number;
    figure: PlotlyFigure;
    /** least, middle and most */
    summary: string[];
    /** null where it is not known whether more or less is better */
    best: RunWithSettings & { value: string; equal: number; other: RunWithSettings | null } | null;
  }

  /** The shares of settings in a target. */
  interface Fitting {
    target: string;
    act: string;
    state: string;
    total: number;
    done: number;
    text: string;
    reason: string;
    fit: number | null;
    /** whether the fit is good enough for shares, which are left out otherwise */
    judged: boolean;
    shares: Record<string, Ends>;
    /** settings that need not be varied, null where that cannot be judged */
    alone: string[] | null;
    /** settings whose share is not surely more than that of the next one */
    tied: string[];
    /** settings of which it is not known */
    unsure: string[];
  }

  /** layouts/lineage/optimisation/drawing.py */
  interface SettingMeta {
    log: boolean;
    /** whether the axis could be logarithmic */
    logs: boolean;
    runs: number;
    categories: number;
    left: number;
    /** lowest and highest value of the setting that the runs have, none for categories */
    tried: string[];
    shape: string;
    slope: string;
    /** place, low and high of the best result, and which end it is at: -1, 0, 1 */
    best: [string, string, string, number] | null;
  }

  /** The points of runs, with markup in their texts. */
  interface RunTrace extends SentTrace {
    customdata: string[];
    text: string[];
  }

  interface RunPair {
    runs: [string, string];
    values: [string, string];
    results: [string, string];
    difference: string;
  }

  interface SettingFigure extends PlotlyFigure {
    layout: PlotlyLayout & { meta: SettingMeta };
  }

  /** A result over a setting, and pairs of runs. */
  interface SettingDrawing {
    setting: string;
    target: string;
    figure: SettingFigure | null;
    pairs: RunPair[];
    total: number;
    also: Wire.Texts[];
  }

  /** The page of a result and settings. */
  interface ResultPage extends KeptPage {
    sheet: ResultSheet;
    runs: RunList | null;
    fitting: Fitting | null;
    drawing: SettingDrawing;
    /** what the fitting was told to do, until the server has answered */
    act: string;
    /** what the table and the choice of targets were made from */
    shown: unknown[] | null;
    listed: string;
    timer: number;
    tools: ReturnType<typeof import("../lineage/optimisation/page.js").build>;
  }

  /** layouts/lineage/two_runs: both runs, or none. */
  interface TwoRuns {
    runs: string[];
    colours: string[];
  }

  /** A chart of both runs on screen. */
  interface PairChart {
    element: HTMLElement;
    host: HTMLElement;
    plot: PlotlyDrawn;
    tag: string;
    drawing: Drawing;
  }

  /** The two runs on screen, and the run list above their curves. */
  interface PairView {
    root: HTMLElement;
    runs: string[];
    state: Wire.Query | null;
    hidden: string[];
    rows: ReturnType<typeof import("../kit/cards/run_list.js").build>["rows"];
    list: ReturnType<typeof import("../kit/cards/run_list.js").build>;
    /** tag and step under the pointer */
    tag: string;
    place: import("../kit/cards/lines.js").Place | null;
  }
}
