// The timeline: what the server sends (app/routes/profiles/timeline.py), the line that its modules work on, and its page.
// All times are ns from the start of the axis.

declare namespace Timeline {
  type Pen = CanvasRenderingContext2D | import("../kit/vector.js").Vector;
  type Theme = "light" | "dark";
  type Rgb = [number, number, number];
  type Unsigned = Uint8Array | Uint16Array | Uint32Array;
  type Parameters = Record<string, string | number | null | undefined>;

  interface Range {
    from: number;
    to: number;
  }

  interface Point {
    x: number;
    y: number;
  }

  interface SentTrack {
    process: string;
    thread: string;
    process_id: string;
    thread_id: string;
    kind: string;
    order: number[];
    first_lane: number;
    lanes: number;
    slices: number;
    series: number;
    part?: number;
    shift?: number;
    /** the name of its trace, if there are several */
    where?: string;
  }

  interface Track extends SentTrack {
    id: string;
    /** number among the tracks of all traces */
    index: number;
  }

  interface Process {
    id: string;
    name: string;
    part: number;
    tracks: Track[];
    order: number;
    /** whether all tracks are counters */
    counters: boolean;
    /** whether all tracks are of the host */
    host: boolean;
  }

  interface Alignment {
    ns: number;
    collectives: number;
    spread: number;
  }

  interface Part {
    name: string;
    file: string;
    track: number;
    row: number;
    slices: number;
    shift: number;
    device: number;
    align?: Alignment | null;
  }

  /** label, start, length */
  type Step = [string, number, number];

  interface Facts {
    alternative: Wire.Texts;
    file: string;
    first: number;
    last: number;
    end: number;
    slices: number;
    names: number;
    tracks: SentTrack[];
    steps: Step[];
    axis: string;
    comparable: boolean;
    at: string;
    parts: Part[];
  }

  /** How far the reading of a trace is. */
  interface Known {
    state: string;
    text: string;
    label: string;
    done: number;
    total: number;
    complete: boolean;
    sources: string[];
  }

  interface Flow {
    way: string;
    row: number;
    name: string;
    start: number;
    track: number;
    kind: string;
  }

  interface Arrows {
    total: number;
    arriving: number;
    start: number[];
    duration: number[];
    track: number[];
    depth: number[];
  }

  interface NamedRow {
    row: number;
    name: string;
  }

  interface RankTime {
    row: number;
    part: number;
    start: number;
    end: number;
  }

  interface Slice extends NamedRow {
    start: number;
    duration: number;
    self: number;
    track: number;
    depth: number;
    category: string;
    step: string;
    half: string;
    same: {
      previous: number | null; next: number | null; place: number; count: number; median: number; total: number;
    } | null;
    around?: (NamedRow & { duration: number })[];
    arguments?: Record<string, unknown> | null;
    flows?: Flow[];
    arrows?: Arrows;
    ranks?: RankTime[];
  }

  interface Hits {
    more: boolean;
    row: number[];
    start: number[];
    duration: number[];
    name: number[];
    track: number[];
  }

  type Cell = string | number | null;

  interface Table {
    columns: string[];
    rows: Cell[][];
    total: number;
  }

  /** Why a stream did nothing: gaps, or a critical path. */
  interface Causes extends Table {
    range: number;
    streams: number[];
    track: number | null;
    /** part and lateness (ns) by row */
    last?: Record<string, [number, number]>;
    idle: number;
    causes: Record<string, number>;
    kinds: Record<string, number>;
  }

  interface Flames {
    total: number;
    parent: number[];
    level: number[];
    name: string[];
    total_ns: number[];
    self_ns: number[];
    count: number[];
  }

  interface Differences extends Table {
    sums: Record<string, number>;
  }

  /** What the server says of a range; which of these depends on what is asked for. */
  interface RangeFound extends Causes, Differences, Flames {
    name: string[];
  }

  interface Series {
    series: string;
    time: number[];
    low: (number | null)[];
    high: (number | null)[];
    last: (number | null)[];
  }

  interface Curve {
    asking: boolean;
    from: number;
    to: number;
    series: Series[];
    least: number;
    most: number;
  }

  interface Slices {
    length: number;
    x: Float32Array;
    width: Float32Array;
    name: Uint32Array;
    row: Uint32Array;
    lane: Uint16Array;
    category: Uint8Array;
  }

  interface Buckets {
    length: number;
    bucket: Unsigned;
    count: Unsigned;
    row: Uint32Array;
    lane: Unsigned;
    busy: Uint8Array;
  }

  /** Places in the arrays of a view by lane. */
  interface Places {
    begin: Uint32Array;
    places: Uint32Array;
  }

  interface Asked {
    lanes: number[];
    k: number;
    b0: number;
    n: number;
    shiftOf?: ((lane: number) => number) | null;
  }

  interface View extends Range {
    lanes: number[];
    k: number;
    b0: number;
    n: number;
    bucket: number;
    base: number;
    late: Float64Array;
    pending: Set<number>;
    slices: Slices;
    buckets: Buckets;
    index: Map<number, number>;
    slicesOf: Places;
    bucketsOf: Places;
    /** whether it has to be asked for again */
    old?: boolean;
  }

  /** A place in the arrays of a view. */
  interface Found {
    slice?: number;
    bucket?: number;
  }

  type Height = "small" | "medium" | "large";

  /** The part of the state that is about tracks; ids of tracks and processes. */
  interface Look {
    folded: Set<string>;
    opened: Set<string>;
    hidden: Set<string>;
    pinned: string[];
    order: string[];
    filter: string;
    height: Height;
    heights: Map<string, Height>;
    colour: string;
  }

  interface RowPlace {
    id: string;
    pinned: boolean;
    folded: boolean;
    y: number;
    height: number;
    /** height of a lane, and how many are drawn; none where a row is no track */
    lane: number;
    lanes: number;
  }

  interface TrackRow extends RowPlace {
    kind: "track";
    track: Track;
    curve: boolean;
  }

  interface ProcessRow extends RowPlace {
    kind: "process";
    process: Process;
  }

  interface PartRow extends RowPlace {
    kind: "part";
    part: number;
  }

  type Row = TrackRow | ProcessRow | PartRow;

  interface Stack {
    rows: Row[];
    height: number;
  }

  interface Layout {
    pinned: Stack;
    rows: Stack;
    hidden: number;
  }

  /** Rows on screen with their top. */
  type Placed = [Row, number];

  interface Seen {
    pinned: Placed[];
    rows: Placed[];
  }

  /** What is at a place on screen; time in ns. */
  interface Place {
    row: Row;
    y: number;
    top: number;
    lane: number;
    time: number;
    found: Found | null;
  }

  interface SlicePlace {
    top: number;
    height: number;
    row: Row;
    inside: boolean;
  }

  interface Palette {
    fills: string[];
    edge: string;
    text: string;
    several: Rgb;
    faint: string;
    pale: string;
  }

  interface Inks {
    text: string;
    muted: string;
    line: string;
    strong: string;
    accent: string;
    back: string;
    band: string;
    grid: string;
    chosen: string;
  }

  interface Scene extends Range {
    view: View | null;
    rows: [TrackRow, number][];
    width: number;
    ratio: number;
    palette: Palette;
    theme: Theme;
    colour: string;
    names: import("../profiles/timeline/server.js").Names;
  }

  /** How many were drawn. */
  interface Drawn {
    slices: number;
    buckets: number;
    labels: number;
  }

  interface Busy {
    shares: Float32Array;
    y: number;
    height: number;
  }

  interface Picture extends Range {
    canvas: HTMLCanvasElement;
    key: string;
    part: number;
  }

  /** The elements of a timeline. */
  interface Host {
    root: HTMLElement;
    stripName: HTMLElement;
    strip: HTMLCanvasElement;
    base: HTMLElement;
    ruler: HTMLCanvasElement;
    labels: HTMLElement;
    pinnedLabels: HTMLElement;
    canvas: HTMLCanvasElement;
    overlay: HTMLCanvasElement;
    canvasHost: HTMLElement;
    sizer: HTMLElement;
    view: HTMLElement;
    scroll: HTMLElement;
    empty: HTMLElement;
    tip: HTMLElement;
  }

  interface NamedMark {
    name: string;
    times: number[];
    mark: Wire.Mark;
  }

  interface Label {
    look: string;
    element: HTMLElement;
    top: number;
  }

  /** The operator and the node of a slice, as states of their pages. */
  interface Related {
    operator: Record<string, string> | null;
    node: Record<string, string> | null;
  }

  interface Line {
    server: import("../profiles/timeline/server.js").Server;
    facts: Facts;
    tree: Process[];
    names: import("../profiles/timeline/server.js").Names;
    host: Host;
    save(range: Range): void;
    ids: string[];
    shiftOf: ((lane: number) => number) | null;
    range: Range;
    way: import("../profiles/timeline/camera.js").Way;
    layout: Layout;
    look: Look;
    places: Map<string, Row>;
    version: number;
    view: View | null;
    asking: boolean;
    wanted: boolean;
    picture: Picture | null;
    /** ms that a picture takes */
    cost: number;
    frame: number;
    restTimer: number;
    saveTimer: number;
    width: number;
    height: number;
    ratio: number;
    top: number;
    theme: Theme;
    palette: Palette;
    inks: Inks;
    inksOf: Theme | "";
    curves: Map<number, Curve>;
    pointer: Point | null;
    dragging: boolean;
    dragged: Range | null;
    /** ids of the tracks and processes that the pointer is dragged over; [] for all */
    draggedOver: string[];
    /** those that the range is restricted to */
    over: string[];
    hover: { slice?: Slice } | null;
    selected: Slice | null;
    chosen: Range | null;
    hits: Hits | null;
    marks: number[];
    named: NamedMark[];
    labels: Map<string, Label>;
    related: Map<number, Promise<Related>>;
    words: { step: string };
    ticks: { at: number; label: string }[];
    zero: number;
    strip: Uint8Array | null;
    drawn: Drawn;
    closed: boolean;
    error: string;
  }

  interface Flag {
    left: number;
    right: number;
    name: string;
    end: number;
  }

  interface Arrow {
    x1: number;
    y1: number;
    x2: number;
    y2: number;
    many: number;
    arrives: boolean;
  }

  interface Bundles {
    arrows: Arrow[];
    drawn: number;
    total: number;
    out: number;
  }

  interface FlameBox {
    row: number;
    level: number;
    left: number;
    width: number;
  }

  interface PanelActs {
    close(): void;
    tab(name: string): void;
    go(row: number): void;
    same(by: number): void;
    zoomSlice(): void;
    zoomRange(): void;
    clearRange(): void;
    /** count all tracks again */
    clearOver(): void;
    hit(place: number): void;
    setBy(by: string): void;
    setStream(track: string): void;
    setPart(key: string, part: string): void;
    showTime(from: number, length: number): void;
    setClip(clip: string): void;
    searchFor(name: string): void;
  }

  interface Panel {
    host: HTMLElement;
    tabs: HTMLElement;
    tools: HTMLElement;
    body: HTMLElement;
    acts: PanelActs;
    /** name of the tab on screen, "" for none */
    shown: string;
  }

  interface RangeAsked {
    range: Range;
    /** names of the tracks that the range is restricted to; [] for all */
    over: string[];
    clip: string;
    by: string;
    parts: Part[];
    part: number;
    other: number;
  }

  /** A trace as the state names it. */
  interface Trace {
    run: string;
    session: string;
    rank: string;
    source: string;
  }

  interface MarkFields {
    marks: {
      field: HTMLInputElement;
      form: HTMLFormElement;
      about: HTMLElement;
      message: HTMLElement;
      list: HTMLElement;
      /** key of the mark that a second press deletes */
      sure: string;
      element: HTMLDetailsElement;
    };
    book: Wire.Notebook | null;
  }

  interface PartFields {
    partsName: HTMLElement;
    partList: HTMLElement;
    partAdd: HTMLSelectElement;
    partRank: Profiles.NumberPicker;
    partAll: HTMLButtonElement;
    axes: HTMLElement;
    atSelect: HTMLSelectElement;
    clocks: HTMLButtonElement;
    clocksNote: HTMLElement;
    axisBox: HTMLElement;
    partsMenu: HTMLElement;
    /** the traces on screen, the page's own first */
    parts: Trace[];
    /** how far each is read */
    known: Known[];
  }

  interface ToolFields {
    backButton: HTMLButtonElement;
    forwardButton: HTMLButtonElement;
    zooms: HTMLElement;
    stepSelect: HTMLSelectElement;
    zeroSelect: HTMLSelectElement;
    colourSelect: HTMLSelectElement;
    heights: HTMLElement;
    legend: HTMLElement;
    search: HTMLInputElement;
    regex: HTMLButtonElement;
    shortest: HTMLInputElement;
    previousHit: HTMLButtonElement;
    nextHit: HTMLButtonElement;
    hitCount: HTMLElement;
    hitTools: HTMLElement;
    traceLink: HTMLAnchorElement;
    searchedIn: HTMLButtonElement;
  }

  /** Made anew for each trace. */
  interface BoxFields {
    host: Host;
    filter: HTMLInputElement;
    hiddenButton: HTMLButtonElement;
    hints: HTMLElement;
    about: HTMLElement;
    progress: HTMLElement;
    panel: Panel;
  }

  interface Page extends Profiles.Page, MarkFields, PartFields, ToolFields, BoxFields {
    /** nothing until the trace is read: whatever may come before asks whether it is there */
    line: Line;
    slices: Map<string, Promise<Slice>>;
    /** counts what was opened */
    opened: number;
    traceOf: string | null;
    /** what names the page's own trace */
    own: string;
    /** the state that is on screen */
    applied: Wire.Query | null;
    savedSpan: string;
    zoomStep: string | null;
    timers: Record<string, number>;
    menu: HTMLElement | null;
    /** whether the camera goes to the slice that is chosen next */
    moving: boolean;
    hovered: number | null;
    rangeFound: RangeFound | { error: string } | null;
    rangeTurn: number;
    searchTurn: number;
    hitAt: number;
  }
}
