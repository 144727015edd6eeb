// Made from declarations in Python by `make types` (tests/js/wire_types.py). Do not edit.

declare namespace Wire {
  type Query = Record<string, string[]>;

  type Texts = [string, string];

  type FileAndText = FileAndText;

  /** layouts/runs/chosen_runs.py: A run. */
  interface KeyAndName {
    key: string;
    name: string;
  }

  /** layouts/kit/body.py: A file, and what was lost; of a note nothing. */
  interface DamagedFile {
    path: string;
    text: string;
    note?: boolean;
  }

  /**
   * layouts/kit/figures/typed_arrays.py: An array: its dtype as numpy names it, base64 of its bytes, and "rows, columns" if
   * it has two dimensions.
   */
  interface SentArray {
    dtype: string;
    bdata: string;
    shape?: string;
  }

  /** layouts/shell/run_list.py: A row of the list of runs. */
  interface RunRow {
    key: string;
    name: string;
    path: string;
    /** The path without links if that is another one, else empty. */
    real: string;
    members: string[];
    /** Those of members while the state names no runs. */
    colours: string[];
    hue: number;
    /** Colours set by hand and their hues, by keys of the run and of members. */
    hand: Record<string, [string, number]>;
    started: number | null;
    updated: number;
    size: number;
    sizeText: string;
    state: string;
    steps: number;
    points: number;
    /** Number of tags by kind. */
    tags: Record<string, number>;
    tag: string;
    value: number | null;
    valueText: string;
    valueTip: Texts | null;
    problems: number;
  }

  /** layouts/shell/run_list.py: What has changed in the list of runs. */
  interface RunChanges {
    /** The mark that these changes begin at. */
    since: string;
    mark: string;
    /** Rows are all runs. */
    whole: boolean;
    rows: RunRow[];
    /** Keys of rows that no longer exist. */
    gone: string[];
    /**
     * Keys of the members on screen where the state names none; null for all that have data of a kind that the page shows.
     */
    default: string[] | null;
    usual: number | null;
    /** The scalar by which those of `default` are the best; empty if they are the newest. */
    bestBy: string;
    /**
     * Number of groups of runs whose names differ in the seed alone, if those of `default` are the best of each; else 0.
     */
    groups: number;
    /** Kinds of data that pages can show without a run. */
    also: string[];
    /** Null: as before. */
    notebook: Notebook | null;
  }

  /**
   * layouts/runs/notes.py: The remark on a run and its tags, icons first. by is the name of who wrote the remark last, ""
   * if it is not known.
   */
  interface Note {
    remark: string;
    tags: string[];
    by: string;
    version: string;
  }

  /**
   * layouts/runs/notes.py: A saved view: a page and its state under a name. place is the page's path and query:
   * "scalars?run=a". by is the name of who saved it, "" if it is not known.
   */
  interface View {
    key: string;
    name: string;
    place: string;
    by: string;
    version: string;
  }

  /**
   * layouts/runs/notes.py: A named mark on the timeline of a profile: one time, or two with what lies between (ns from the
   * start of the trace).
   */
  interface Mark {
    key: string;
    name: string;
    session: string;
    rank: number;
    times: number[];
    version: string;
  }

  /** layouts/shell/run_list.py: Remarks by run, saved views, marks on timelines by run, and boards. */
  interface Notebook {
    kept: boolean;
    empty: Note;
    whyNot: string;
    /** Whether the visitor may only read. */
    readOnly: boolean;
    notes: Record<string, Note>;
    views: View[];
    marks: Record<string, Mark[]>;
    boards: BoardHead[];
  }

  /** layouts/shell/run_list.py: A board without its cards. */
  interface BoardHead {
    key: string;
    name: string;
    /** Of the board with all of its cards. */
    version: string;
    /** Number of cards. */
    count: number;
    /** Who changed it last; empty if that is not known. */
    by: string;
  }

  /**
   * layouts/runs/boards.py: A card at column x and row y, w columns wide and h rows high. place: path and query of a page,
   * None for a card of text. part: the card of the page as assets/kit/alone.js names it, "" for the whole page. title: ""
   * for that of the part. text: Markdown.
   */
  interface BoardCard {
    key: string;
    place: string | null;
    part: string;
    title: string;
    text: string;
    x: number;
    y: number;
    w: number;
    h: number;
    version: string;
  }

  /** layouts/runs/boards.py: A board as the browser gets and exports it. */
  interface Board {
    format: string;
    /** Of the format. */
    version: number;
    name: string;
    cards: BoardCard[];
    key: string;
    /** The version of the board with all of its cards. */
    mark: string;
    /** Who changed it last; empty if that is not known. */
    by: string;
    /** What was replaced of late by changes that had not seen it, oldest first. */
    lost: LostField[];
  }

  /** layouts/runs/boards.py: A field of a card that a change replaced without having seen it. */
  interface LostField {
    /** Of the card. */
    key: string;
    name: string;
    value: string | number | null;
    /** Which loss it is: another number than any other one has, also of a server before; 0 is none. */
    number: number;
  }

  type ProblemRow = [string, string, string, number, number, string];

  /** layouts/shell/run_list.py: A mirror of remote runs (`layouts.runs.mirrors.MirrorStatus`), with sizes as texts. */
  interface Mirror {
    address: string;
    running: boolean;
    reason: string;
    code: string;
    retryAt: number;
    listed: number;
    requests: number;
    received: string;
    counts: Record<string, number>;
    files: [string, string, string, string, string][];
    fetches: boolean;
  }

  /** layouts/shell/run_list.py: Problems of one run or of all. */
  interface Problems {
    run: string;
    failed: string;
    total: number;
    /** Number of notes, of which nothing is lost; total is without them. */
    notes: number;
    /** Number of large values that are verified, and of all. */
    verified: [number, number];
    rows: ProblemRow[];
    /** Of all runs; empty for one run. */
    mirrors: Mirror[];
  }

  /** layouts/runs/rows.py: The status, and how many large values are verified, of how many. */
  interface Status {
    base: string;
    read_at: number | null;
    interval: number;
    total: number;
    loaded: number;
    problems: number;
    version: number;
    failed: string;
    age: number;
    missing: boolean;
    names: string[];
    coming: number;
    verified: [number, number];
  }

  /** layouts/kit/cards/catalogue.py: The tags of a kind. */
  interface TagCatalogue {
    digest: string;
    runs: string[];
    tags: string[];
    waiting: number;
    total: number;
    damage: FileAndText[];
  }

  /** layouts/graphs/conversion/listing.py: The runs with conversions. */
  interface ConversionCatalogue {
    chosen: number;
    waiting: number;
    damage: FileAndText[];
    elsewhere: KeyAndName[];
    digest: string;
    /** key, name, version, names of reports */
    runs: [string, string, string, string[]][];
    left: number;
  }

  /**
   * layouts/graphs/conversion/listing.py: Whether a conversion can be shown: state is "ready", "nothing" (no node),
   * "missing" or "failed" (text is the reason).
   */
  interface ConversionListing {
    of: string;
    model: string;
    state: string;
    text: string;
    mark: string;
    problems: DamagedFile[];
    more: number;
    notes: number;
  }

  /** layouts/runs/run_numbers.py: A number in the head of a run. */
  interface RunFact {
    name: string;
    text: string;
    tip?: Texts;
    /** Text that the number is part of, and its other values. */
    key?: string;
    values?: Record<string, string>;
  }

  /** layouts/runs/overview/head.py: The head of the page. */
  interface RunHead {
    of: string;
    label: string;
    colour: string;
    state: string;
    started: number | null;
    problems: string;
    /** There are problems. */
    wrong: boolean;
    path: string;
    /** The path without links if that is another one, else empty. */
    real: string;
    facts: RunFact[];
  }

  /** layouts/runs/overview/head.py: The head of the page if no run is chosen. */
  interface NoRun {
    of: "";
  }

  /**
   * layouts/runs/overview/insights.py: How many scalars of a run are not analysed yet, how many it has, and whether any has
   * the `fewest` values that a judgement takes.
   */
  interface InsightsLeft {
    run: string;
    left: number;
    scalars: number;
    judged: boolean;
    fewest: number;
    /** That of the request. */
    version: unknown;
  }

  /** layouts/runs/start/page.py: What the page shows, as plain lists (`layouts.kit.plain_html`), and a digest of it. */
  interface StartParts {
    digest: string;
    parts: Record<string, unknown[]>;
  }

  /**
   * layouts/runs/guides/page.py: What the page shows, as plain lists (`layouts.kit.plain_html`), and a digest of it. run is
   * the key of the run, other that of the second one, "" for none; runs are (key, name) of those to choose from. unknown is
   * a run that the address names and nobody has, "" for none. again: something is being read. text is the open symptom as
   * text.
   */
  interface GuideParts {
    digest: string;
    parts: Record<string, unknown[]>;
    run: string;
    other: string;
    symptom: string;
    unknown: string;
    runs: [string, string][];
    again: boolean;
    text: Texts;
  }

  /** layouts/runs/runs/columns.py: Settings and tags that can be columns, and how many more there are. */
  interface ColumnChoices {
    /** name, label in both languages, number of runs */
    settings: [string, Texts, number][];
    /** name, which values are best if that is known, number of runs */
    tags: [string, string, number][];
    left: number;
    find: string;
  }

  /** layouts/runs/runs/columns.py: Values of some runs in some columns. */
  interface ColumnValues {
    col: string[];
    rows: Record<string, (number | string | null)[]>;
    /** Labels of settings by column. */
    labels: Record<string, Texts>;
    /** Errors of expressions by column. */
    wrong: Record<string, Texts>;
    /** What is said on hover of last values that are not finite, by run and column. */
    tips: Record<string, Record<string, Texts>>;
  }

  /**
   * layouts/runs/runs/columns.py: Places of texts that a regular expression matches, and why there is no result, else an
   * empty text.
   */
  interface MatchedTexts {
    pattern: string;
    found: number[];
    error: string;
  }

  /** layouts/curves/last_values.py: The last value of a curve. */
  interface ShownLast {
    text: string;
    /** It is not finite. */
    wrong: boolean;
    tip: Texts;
  }

  /**
   * layouts/kit/cards/recorded.py: Steps and times of the values of a tag. Each list of steps is the first step and
   * differences.
   */
  interface Recorded {
    tags: string[];
    steps: number[][];
    series: RecordedSeries[];
  }

  /** layouts/kit/cards/recorded.py: The values of a tag in a run. */
  interface RecordedSeries {
    run: string;
    label: string;
    colour: string;
    /** Place in the list of steps. */
    steps: number;
    /** The first time in ms, and differences. */
    walls: number[];
  }

  /** layouts/profiles/catalogue.py: What the files of a profile give. */
  interface ProfileKind {
    device: string;
    frames: string[];
    files: string[];
    more: number;
  }

  /** layouts/profiles/catalogue.py: A run with profiles. */
  interface ProfiledRun {
    key: string;
    name: string;
    total: number;
    listed: number;
  }

  /** layouts/profiles/catalogue.py: Columns of the profiles of a job: a list, or what all are alike. */
  interface ProfiledJob {
    name: string;
    title: string;
    updated: number;
    whole: string;
    run: number | number[];
    session: string | string[];
    rank: number[];
    kind: number | number[];
    mark: string | string[];
  }

  /** layouts/profiles/catalogue.py: The profiles of the chosen runs. */
  interface ProfileCatalogue {
    runs: ProfiledRun[];
    jobs: ProfiledJob[];
    kinds: ProfileKind[];
    left: number;
    chosen: number;
    waiting: number;
    damage: FileAndText[];
    elsewhere: KeyAndName[];
    digest: string;
  }

  /** layouts/profiles/reading_progress.py: What is read before: a frame of a run, done of total bytes. */
  interface ReadFirst {
    name: string;
    run: string;
    done: number;
    total: number;
  }

  /** layouts/profiles/reading_progress.py: The progress of reading, or what is wrong. */
  interface Reading {
    /** run, session, rank, mark */
    of: [string, string, number, string];
    state: string;
    problems: DamagedFile[];
    more: number;
    notes: number;
    frames?: string[];
    wanted?: string[];
    torch?: boolean;
    which?: string;
    name?: string;
    done?: number;
    total?: number;
    text?: string;
    ahead?: ReadFirst;
  }

  /** layouts/dumps/catalogue.py: The dumps of the chosen runs. */
  interface DumpCatalogue {
    live: string;
    sessions: [string, string][];
    chosen: number;
    waiting: number;
    damage: FileAndText[];
    elsewhere: KeyAndName[];
    digest: string;
    /** key, name, version */
    dumps: [string, string, string][];
    /** key of the newest dump of a run whose scalars have NaN or Inf as far as analysed; "" if fewer than two are listed */
    broken: string;
    /** whether scalars that decide `broken` are not analysed yet */
    unjudged: boolean;
    left: number;
  }

  /** layouts/dumps/listing.py: Ranks, iterations and damage of a dump. */
  interface ListedDump {
    state: string;
    text: string;
    mark: string;
    ranks?: number[];
    steps?: number[];
    rows?: number;
    problems?: DamagedFile[];
    more?: number;
    notes?: number;
  }

  /** layouts/dumps/listing.py: What a dump holds, and the one that it is compared with. */
  interface DumpListing {
    state: string;
    text: string;
    mark: string;
    ranks?: number[];
    steps?: number[];
    rows?: number;
    problems?: DamagedFile[];
    more?: number;
    notes?: number;
    with: ListedDump | null;
    of: string;
    against: string;
  }

  /** layouts/explanations/listing.py: The runs with explanations. */
  interface ExplanationCatalogue {
    chosen: number;
    waiting: number;
    damage: FileAndText[];
    elsewhere: KeyAndName[];
    digest: string;
    /** key, name, version */
    runs: [string, string, string][];
    left: number;
  }

  type LabelRow = [number, string, number, number, number];

  /** layouts/explanations/listing.py: What the explanations of a run hold. */
  interface ExplanationListing {
    of: string;
    state: string;
    text: string;
    mark: string;
    behind: boolean;
    samples?: number;
    maps?: number;
    labels?: LabelRow[];
    explainers?: string[];
    metrics?: string[];
    complete?: boolean;
    uncertain?: boolean;
    problems?: DamagedFile[];
    more?: number;
    notes?: number;
  }

  /** layouts/shell/shell.py: What the menu knows of a page that is not open. */
  interface ShellPage {
    frame: string;
    title: Texts;
    content: string;
    keeps: string[];
    /** Pages of a group share what they keep; the steps of a dump are not those of a job. */
    group: string;
  }

  /** layouts/shell/shell.py: The pages by address, and the pages of names that they had. */
  interface ShellPages {
    prefix: string;
    pages: Record<string, ShellPage>;
    formerly: Record<string, string>;
    /** The component that an unknown page has. */
    missing: unknown;
  }

  /** layouts/shell/shell.py: URLs of what a page needs that is not open. */
  interface Needed {
    scripts: string[];
    styles: string[];
    modules: string[];
  }

  /**
   * layouts/values/histogram_facts.py: The places of the first and the last edge, the number of bins, and the edges unless
   * they are evenly spaced.
   */
  interface HistogramBins {
    low: number;
    high: number;
    n: number;
    edges?: SentArray;
  }

  /**
   * layouts/values/histogram_facts.py: A panel of a card: its axes, and counts, or the place of the trace that has them, or
   * the height of one count.
   */
  interface HistogramPanel {
    run: string;
    label: string;
    colour: string;
    started: number;
    bins: HistogramBins;
    at: SentArray;
    step: SentArray;
    time: SentArray;
    finite: SentArray;
    total: SentArray;
    extent: SentArray;
    outside: SentArray;
    bad: SentArray;
    xaxis: string;
    yaxis: string;
    height?: number;
    trace?: number;
    counts?: SentArray;
  }

  /** layouts/values/histogram_facts.py: What colours stand for. */
  interface ColourScale {
    stops: [number, string][];
    most?: number;
    more?: boolean;
  }

  /** layouts/values/histogram_facts.py: The statistics of the newest drawn step. */
  interface NewestStep {
    step: number;
    total: number;
    bad: [number, number, number];
    min?: number | null;
    mean?: number | null;
    max?: number | null;
  }

  /** layouts/values/histogram_facts.py: `layout.meta` of a card of histograms. */
  interface HistogramMeta {
    view: string;
    axis: string;
    panels: HistogramPanel[];
    /** Which values the bins cover: all, usual, zoom. */
    limits: string;
    ranges: Record<string, (number | string)[]>;
    scale?: ColourScale;
    statistics?: [string, string, string][];
    tags: string[];
    runs: number;
    shown: number;
    first: number;
    room: number;
    /** Runs that are hidden: key and name. */
    off: [string, string][];
    steps: number;
    drawn: number;
    unread: number;
    waiting: number;
    reason: string;
    empty: number;
    /** Numbers of NaN, +Inf and -Inf. */
    bad: [number, number, number];
    newest: NewestStep | null;
    damaged: number;
    problem: string;
    alternative: Texts;
    choices?: SentArray;
    step?: number;
  }
}

declare namespace Curves {
  /** layouts/curves/scalars/insights.py: The mark of an insight on a card. */
  interface Mark {
    tag: string;
    kind: string;
    severity: number;
    step: number;
    last: number;
    score: number;
    text: Wire.Texts;
    reason: Wire.Texts;
    run: string;
    label: string;
    colour: string;
    time: number;
    started: number;
    /** The range to zoom to. */
    view: string;
    /** Attributes of a link to what caused it. */
    cause: Record<string, string> | null;
    /** Attributes of a link to the symptom that explains it. */
    meaning: Record<string, string>;
  }

  /** layouts/curves/scalars/digests.py: What one curve does; of a tag the first runs have one. */
  interface Digest {
    run: string;
    tag: string;
    label: string;
    text: Wire.Texts;
  }

  /**
   * layouts/curves/scalars/insights.py: The marks on cards, how many insights and series are missing, and, once no series
   * is, what the curves do in words.
   */
  interface Marks {
    marks: Mark[];
    left: number;
    more: number;
    digests: Digest[];
  }

  /** layouts/curves/scalars/sheet.py: A group of the chosen runs. */
  interface Group {
    label: string;
    colour: string;
    /** The colour was set by hand. */
    hand: boolean;
    n: number;
    runs: string[];
  }

  /** layouts/curves/scalars/sheet.py: A cell of the table; the value is what rows are sorted by. */
  interface FinalCell {
    text: string;
    value: number | null;
    title?: string;
    tip?: Wire.Texts;
    wrong?: boolean;
    few?: boolean;
  }

  /** layouts/curves/scalars/sheet.py: A curve, or a group of curves. */
  interface FinalRow {
    tag: string;
    label: string;
    colour: string;
    better: string;
    cells: FinalCell[];
  }

  /** layouts/curves/scalars/sheet.py: The table of final values. */
  interface FinalTable {
    columns: string[];
    rows: FinalRow[];
    total: number;
    grouped: boolean;
  }

  /** layouts/curves/scalars/matrix.py: A page of the matrix. */
  interface LastMatrix {
    /** The table, see layouts/kit/plain_html.py. */
    content: Graphs.PlainHtml[];
    /** Number of rows before those shown. */
    first: number;
    shown: number;
    runs: number;
    /** Number of tags shown. */
    columns: number;
    tags: number;
    /** Number of rows on a page. */
    page: number;
  }

  /** layouts/curves/scalars/sheet.py: A sheet and what was asked for. */
  interface Sheet {
    few: number;
    groups: Group[] | null;
    settings: string[] | null;
    base: string | null;
    refused: string;
    table: FinalTable | null;
    matrix: LastMatrix | null;
    ask: Wire.Query;
  }

  /**
   * layouts/curves/scalars/judging.py: What one rule says of a curve; score is that of its severest insight, 0 without any,
   * reason why it is not judged.
   */
  interface Judgement {
    kind: string;
    state: string;
    score: number;
    reason: Wire.Texts;
  }

  /** layouts/curves/scalars/judging.py: A curve and what each rule says of it. */
  interface JudgedCurve {
    run: string;
    tag: string;
    label: string;
    colour: string;
    rules: Judgement[];
  }

  /** layouts/curves/scalars/judging.py: Curves of the card that was asked about, and how many more there are. */
  interface Judged {
    curves: JudgedCurve[];
    more: number;
  }

  type Severest = Record<string, [number, number]>;

  /** layouts/curves/scalars/ranking.py */
  interface RankingAnswer {
    from: number;
    next: number;
    total: number;
    tags: Record<string, Severest>;
  }

  /** layouts/curves/expressions.py: What is wrong in an expression. */
  interface WrongPlace {
    /** In characters from 1. */
    column: number;
    text: Wire.Texts;
  }

  /** layouts/curves/expressions.py: A derived curve whose expression is valid. */
  interface DerivedCurve {
    runs: number;
    lacking: number;
    lacking_runs: string[];
    apart: number;
    apart_runs: string[];
    unpaired: [string, number][];
    superseded: [string, number][];
    undefined: [string, number][];
    tag: string;
    error: null;
  }

  /** layouts/curves/expressions.py: A derived curve whose expression is not valid. */
  interface WrongExpression {
    tag: string;
    error: WrongPlace;
  }

  type Derived = DerivedCurve | WrongExpression;

  /** layouts/curves/marks.py: The first value that is not finite, and the view that a jump to it shows. */
  interface FirstBad {
    x: number;
    label: string;
    step: number;
    low: number;
    high: number;
  }

  /** layouts/curves/thresholds.py: A threshold, the number of points that satisfy it, and the tags it applies to. */
  interface SatisfiedThreshold {
    text: string;
    interval: string;
    satisfied: number;
    tags: string[];
  }

  /** layouts/curves/lines.py: Whether outliers are shown, and how many values the axes leave out. */
  interface ShownOutliers {
    shown: boolean;
    beyond: number;
  }

  /** layouts/curves/charts.py: A tag of a chart with several. */
  interface LegendEntry {
    tag: string;
    axis: number;
    stroke: string;
    colour: string;
  }

  /** layouts/curves/charts.py: `layout.meta` of a card of curves. */
  interface ChartMeta {
    nan: number;
    above: number;
    below: number;
    first: FirstBad | null;
    points: number;
    inside: number;
    sent: number;
    whole: boolean;
    hidden: number;
    unplaced: number;
    superseded: number;
    thresholds: SatisfiedThreshold[];
    axis: string;
    outliers: ShownOutliers | null;
    tags: string[];
    lines: number;
    series: number;
    refused: string;
    /** Number of points without a baseline. */
    beyond: number;
    base: string | null;
    grouped: boolean;
    band: string;
    legend: LegendEntry[];
    derived: Derived[];
    alternative: Wire.Texts;
  }
}

declare namespace Tuning {
  /** layouts/tuning/tuning/page.py: The studies, if none of them can be shown. */
  interface PendingStudy {
    state: "reading" | "missing" | "none";
    /** key, name, number of trials, number of running trials */
    studies: [string, string, number, number][];
  }

  /** layouts/tuning/tuning/page.py: A study. */
  interface ReadyStudy {
    state: "ready";
    studies: [string, string, number, number][];
    study: string;
    mark: string;
    target: string;
    targets: string[];
    damaged: boolean;
    /** Head, table, chosen trial and problems. */
    sections: Record<string, Graphs.PlainHtml[]>;
    figures: Record<string, PlotlyFigure | null>;
  }

  /** layouts/tuning/tuning/page.py: There is no study. */
  interface NoFigure {
    state: "missing";
  }

  /** layouts/tuning/tuning/page.py: Figures of target against settings, the names of all, and which ones are shown. */
  interface ReadySettings {
    state: "ready";
    figures: Record<string, PlotlyFigure | null>;
    settings: string[];
    shown: string[];
  }

  /** layouts/tuning/tuning/page.py: A figure, while it is made that of what is known. */
  interface StudyFigure {
    state: "ready" | "working";
    figure: PlotlyFigure | null;
  }
}

/** The keys of requests, and the texts that are valid under each. */
declare namespace Asked {
  /** layouts/lineage/asks.py: A request for the figure. */
  interface AxesRequest {
    col: string;
    theme: "light" | "dark";
    log: string;
    linear: string;
    colour: string;
    hide: string;
    run: string;
  }

  /**
   * layouts/curves/scalar_asks.py: One chart: its tags on the left and on the right axis, the runs as a state names them,
   * and how to draw it.
   */
  interface ChartRequest {
    tag: string;
    right: string;
    run: string;
    x: string;
    smooth: string;
    log: "0" | "1";
    threshold: string;
    view: string;
    columns: string;
    zone: string;
    every: "0" | "1";
    pan: "0" | "1";
    outliers: "0" | "1";
    hide: string;
    group: string;
    line: "mean" | "median" | "worst";
    band: "" | "range" | "std" | "interval" | "none";
    base: string;
  }

  /**
   * layouts/jobs/cluster/asks.py: A request: a profile of the job, one of a job to compare with, what is shown and how it
   * is drawn.
   */
  interface ClusterRequest {
    run: string;
    session: string;
    rank: string;
    with_run: string;
    with_session: string;
    with_rank: string;
    metric: "" | "total" | "computing" | "exposed" | "overlapped" | "communication" | "free" | "bubble" | "preparing" |
      "interval" | "forward_backward" | "tail" | "lateness" | "waited" | "peak_allocated" | "peak_reserved" | "flops" |
      "flops_per_s" | "operators";
    order: "value" | "rank";
    rows: "rank" | "host" | "stage" | "group";
    group: string;
    step: string;
    picked: string;
    from: string;
    to: string;
    lang: "en" | "zh";
    columns: string;
    theme: "light" | "dark";
  }

  /**
   * layouts/explanations/confusion_asks.py: choice: run, threshold and text. cells: one of CELLS. shown: labels of the
   * matrix, () for those with most errors.
   */
  interface ConfusionRequest {
    cells: "count" | "true" | "predicted";
    show: string;
    cell: string;
    by: string;
    question: "" | "top" | "each";
    bins: string;
    with: string;
    kind: "all" | "worse" | "better";
    lang: "en" | "zh";
    theme: "light" | "dark";
  }

  /**
   * layouts/graphs/conversion/asks.py: What the page shows of a conversion: run, name of the report, colour of the graph.
   */
  interface ConversionRequest {
    model: string;
    colour: "state" | "difference";
    theme: "light" | "dark";
    lang: "en" | "zh";
  }

  /** layouts/graphs/asks.py: A request for a drawing. */
  interface DrawingRequest {
    run: string;
    graph: string;
    with: string;
    other: string;
    simple: string;
    open: string;
    page: string;
    node: string;
    hide: string;
    theme: "light" | "dark";
  }

  /**
   * layouts/dumps/dump_tensors.py: A tensor, the one to subtract from it, and the dimension boxes as text (empty: the
   * default ones).
   */
  interface DumpTensorRequest {
    run: string;
    row: string;
    mark: string;
    with_run: string;
    with_row: string;
    with_mark: string;
    how: string;
    dims: string;
  }

  /**
   * layouts/profiles/efficiency.py: A request: a profile, one to join its counters with, settings in SI units, and texts
   * that are no settings by key.
   */
  interface EfficiencyRequest {
    run: string;
    session: string;
    rank: string;
    with_run: string;
    with_session: string;
    with_rank: string;
    peak: string;
    model_flops: string;
    parameters: string;
    tokens: string;
    devices: string;
    bandwidth: string;
    theme: "light" | "dark";
  }

  /** layouts/lineage/optimisation/asks.py: A request for an explanation of a result. */
  interface ExplanationRequest {
    target: string;
    setting: string;
    log: "" | "0" | "1";
    act: "" | "stop" | "again";
    run: string;
  }

  /** layouts/values/histogram_asks.py: One card: its tag, the runs as a state names them, and how to draw it. */
  interface HistogramRequest {
    tag: string;
    run: string;
    view: "auto" | "heat" | "ridge" | "overlay" | "step" | "numbers";
    x: "step" | "relative" | "absolute";
    at: string;
    beside: "0" | "1";
    zoom: string;
    columns: string;
    zone: string;
    scale: "linear" | "symlog" | "quantile";
    colour: "auto" | "root" | "log" | "robust";
    apart: "auto" | "0" | "1";
    first: string;
    hide: string;
  }

  /**
   * layouts/values/landscape/asks.py: A request for a figure: landscapes as (run, tag), the runs that the state of the page
   * names, and how to draw them.
   */
  interface LandscapeRequest {
    sheet: string;
    run: string;
    view: "filled" | "isolines" | "surface";
    map: "viridis" | "cividis" | "diverging";
    lines: string;
    opacity: string;
    over: "0" | "1";
    same: "0" | "1";
    lang: "en" | "zh";
    theme: "light" | "dark";
  }

  /** layouts/profiles/memory/asks.py: A request for parts of the page. */
  interface MemoryRequest {
    run: string;
    session: string;
    rank: string;
    with_run: string;
    with_session: string;
    with_rank: string;
    component: string;
    device: string;
    clock: "" | "ns" | "event";
    from: string;
    to: string;
    at: string;
    by: "" | "name" | "scope" | "source" | "stack" | "component" | "kind" | "owner" | "size";
    part: string;
    view: "alive" | "changed";
    capacity: string;
    graph: string;
    node: string;
    columns: string;
    lang: "en" | "zh";
    theme: "light" | "dark";
  }

  /** layouts/profiles/operators/asks.py: A request for parts of a profile. */
  interface OperatorRequest {
    run: string;
    session: string;
    rank: string;
    with_run: string;
    with_session: string;
    with_rank: string;
    core: "" | "ai_core" | "gpu" | "gpu_kernel" | "ai_cpu" | "host_cpu" | "communication" | "copy";
    chart: "pie" | "bar";
    by: "total" | "mean";
    view: "types" | "operators" | "shapes" | "executions" | "counters";
    q: string;
    in: "name" | "type" | "full_name";
    sort: string;
    open: string;
    scope: string;
    amount: "time" | "flops";
    form: "treemap" | "icicle";
    theme: "light" | "dark";
  }

  /** layouts/jobs/pipeline_request.py: A request: a profile, whose job is meant; step None for all. */
  interface PipelineRequest {
    run: string;
    session: string;
    rank: string;
    step: string;
    stage: string;
    align: "0" | "1";
    m: string;
    from: string;
    to: string;
  }

  /** layouts/profiles/preparation/asks.py: A request for parts of a profile. */
  interface PreparationRequest {
    run: string;
    session: string;
    rank: string;
    op: string;
    from: string;
    to: string;
  }

  /**
   * layouts/jobs/rank_operators.py: A request: a profile, whose job is meant; step None for all; rows: the ranks, () for
   * the first ones; a stage, or None.
   */
  interface RankOperatorRequest {
    run: string;
    session: string;
    rank: string;
    step: string;
    rows: string;
    stage: string;
    aligned: "0" | "1";
  }

  /**
   * layouts/explanations/score_asks.py: choice: run and explainers. weights: metric -> hundredths. by: column that
   * explainers are sorted by, "" for the order of the file, and whether the largest comes first. side: one of SIDES, one:
   * the metric or explainer, "" for the first. order: of labels, one of ORDERS. shown: labels, () for the first ones.
   */
  interface ScoreRequest {
    weight: string;
    by: string;
    side: "metric" | "explainer";
    one: string;
    order: "label" | "worst" | "spread";
    show: string;
    lang: "en" | "zh";
    theme: "light" | "dark";
  }

  /**
   * layouts/profiles/shape_request.py: A request: a profile; operators or kernels on GPU; total or mean time of types;
   * scale of times, linear or log.
   */
  interface ShapeRequest {
    run: string;
    session: string;
    rank: string;
    unit: "operator" | "kernel";
    by: "total" | "mean";
    scale: "linear" | "log";
    type: string;
    op: string;
    shape: string;
    q: string;
    lang: "en" | "zh";
    theme: "light" | "dark";
  }

  /**
   * layouts/profiles/steps/asks.py: A request: a profile, the name of its step trace ("" for the first), and how to draw
   * it.
   */
  interface StepRequest {
    run: string;
    session: string;
    rank: string;
    trace: string;
    unit: string;
    step: string;
    from: string;
    to: string;
  }

  /**
   * layouts/tuning/tuning/asks.py: What is shown: a study ("" for the first one), a target by name, two settings by name
   * ("" for those that matter most), a trial by number (-1 for the best one), order and state of the table's rows, by which
   * method settings are important ("" for their share of the variance).
   */
  interface StudyRequest {
    study: string;
    target: string;
    x: string;
    y: string;
    trial: string;
    sort: "best" | "newest";
    show: "" | "complete" | "running" | "pruned" | "failed";
    by: "" | "association" | "fanova" | "mdi" | "pedanova";
    lang: "en" | "zh";
    theme: "light" | "dark";
  }

  /**
   * layouts/values/tensor_asks.py: A tensor, the one to subtract from it, and the dimension boxes as text (empty: the
   * default ones).
   */
  interface TensorRequest {
    run: string;
    tag: string;
    step: string;
    place: string;
    minus_run: string;
    minus_step: string;
    minus_place: string;
    how: string;
    dims: string;
  }

  /**
   * layouts/jobs/rank_traffic.py: A request: a profile, whose job is meant; group "" and step None for all; kind of
   * operation and operation, "" for all.
   */
  interface TrafficRequest {
    run: string;
    session: string;
    rank: string;
    group: string;
    step: string;
    kind: string;
    op: string;
    measure: "bandwidth" | "bytes" | "time";
    class: "total" | "top1" | "middle" | "bottom1" | "bottom2" | "bottom3";
    inner: "0" | "1";
    how: "" | "sum" | "mean" | "max" | "min";
    by: "group" | "kind" | "operation" | "rank";
    sort: string;
    hccs: string;
    pcie: string;
    rdma: string;
    small: string;
    small_rdma: string;
    slow: string;
    held: string;
  }

  /** layouts/dumps/two_dumps/work.py: Which dumps are compared, and how that is shown. */
  interface TwoDumpsRequest {
    of: string;
    rank: string;
    step: string;
    with: string;
    with_rank: string;
    with_step: string;
    tol: string;
    show: "outputs" | "differing" | "all";
    find: string;
    lang: "en" | "zh";
    theme: "light" | "dark";
  }

  /**
   * layouts/jobs/two_jobs/asks.py: What to draw: a profile of the job, one of the job that it is compared with, and how.
   */
  interface TwoJobsRequest {
    run: string;
    session: string;
    rank: string;
    with_run: string;
    with_session: string;
    with_rank: string;
    metric: "" | "total" | "computing" | "exposed" | "overlapped" | "communication" | "free" | "bubble" | "preparing" |
      "interval" | "forward_backward" | "tail" | "operations" | "waited" | "lateness" | "peak_allocated" | "peak_reserved" |
      "flops" | "flops_per_s";
    by: "group" | "rank";
    step: string;
    lang: "en" | "zh";
    columns: string;
    theme: "light" | "dark";
  }

  /**
   * layouts/jobs/what_if_request.py: A request: a profile, whose job is meant. ranks and links are those asked about, ()
   * for those that stand out.
   */
  interface WhatIfRequest {
    run: string;
    session: string;
    rank: string;
    slow: string;
    link: string;
    cause: "ranks" | "rank" | "link" | "gaps" | "stages" | "communication" | "collectives" | "bubble";
  }
}
