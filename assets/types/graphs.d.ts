// Pages of graphs: what the server sends (layouts/graphs), what cytoscape offers as far as we call it, and the records of pages.

declare namespace Graphs {
  type PlainHtml = string | import("../kit/plain_html.js").PlainElement;

  interface Point {
    x: number;
    y: number;
  }

  interface Size {
    width: number;
    height: number;
  }

  interface Camera {
    zoom: number;
    pan: Point;
  }

  /** Top left corner and size in px of the drawing. */
  interface Corner extends Point {
    w: number;
    h: number;
  }

  interface Rectangle {
    x1: number;
    x2: number;
    y1: number;
    y2: number;
  }

  /** A box as a step of the keyboard knows it. */
  interface NamedPoint extends Point {
    name: string;
  }

  /** Boxes to go to with the arrow keys, and the place of the chosen one. */
  interface Walk {
    names: string[];
    at: number;
  }

  /** A box to be labelled: x and y are its middle, all in px of the drawing. */
  interface Labelled extends Corner {
    id: string;
    label: string;
    /** labels for less room, the longest first */
    shorter?: string[];
    size: number;
    kind: string;
    frame: boolean;
    depth: number;
    count?: number;
    /** what the box is painted by */
    value?: string;
  }

  /** size in px of the drawing */
  interface Label {
    text: string;
    size: number;
  }

  type Place = "mid" | "out" | "into";

  interface LabelledEdge {
    id: string;
    text: string;
    /** px of the screen */
    places: Partial<Record<Place, Point>>;
  }

  /** layouts/graphs/figure/elements.py: the data of a box or an edge, and what our scripts add */
  interface ElementData {
    id: string;
    name?: string;
    rows?: number[];
    turn?: number;
    stamp?: string;
    w: number;
    h: number;
    z?: number;
    kind: string;
    label: string;
    also?: string;
    count?: number;
    value?: string;
    fill: string;
    ink?: string;
    plain?: string;
    to?: string;
    hub?: string;
    tip?: string;
    box: string;
    shown?: string;
    fs: number;
  }

  interface DrawnElement {
    data: ElementData;
    position: Point;
  }

  /** name, depth, kind, label, count, members, opened, mark, also */
  type Branch = [string, number, string, string, number, number, boolean, string, string];

  /** layouts/graphs/drawing.py */
  interface DrawingMeta extends Size {
    of: { run: string; graph: string; against: string[] };
    alternative: Wire.Texts;
    boxes: number;
    broken?: boolean;
    chosen: string;
    closed: number;
    bare?: boolean;
    counts?: Record<string, number>;
    hidden: Record<string, number>;
    kept: number;
    minimap: string;
    notes?: string[];
    opened?: string[];
    pages: string[];
    problems: string[];
    /** while the graph is read, or after that was stopped: nothing is drawn then */
    reading?: Body.Progress;
    roles: Record<string, number>;
    simple?: boolean;
    title: string;
    traced?: string[];
    tree: Branch[];
  }

  interface Drawn {
    elements: DrawnElement[];
    stamp: string;
    stylesheet: unknown[];
    meta: DrawingMeta;
  }

  interface Graph {
    name: string;
    stage: string;
    mark: string;
    final: boolean;
    /** of its file or record; absent for a graph of a dump */
    bytes?: number;
    label?: Wire.Texts;
  }

  interface Run extends Wire.KeyAndName {
    graphs: Graph[];
    total: number;
    first: string;
  }

  /** layouts/graphs/graph/catalogue.py */
  interface Catalogue {
    digest: string;
    chosen: number;
    runs: Run[];
    left: number;
    listing: number;
    waiting: number;
    elsewhere: Wire.KeyAndName[];
    damage: Wire.FileAndText[];
    empty: Wire.FileAndText[];
  }

  interface Bar {
    colours: string[];
    log: boolean;
    /** share of the bar, text */
    ticks: [number, string][];
  }

  /** layouts/graphs/graph/painting.py */
  interface Painted {
    state: string;
    metric: string;
    sources: [string, Wire.Texts][];
    source: string;
    parts: [string, Wire.Texts][];
    part: string;
    steps: number[];
    /** -1 for the whole run */
    step: number;
    problem: Wire.Texts | [];
    /** value, colour, ink by box */
    boxes: Record<string, [string, string, string]>;
    bar?: Bar;
    quiet: string;
    matched: Wire.Texts;
    sums: Wire.Texts;
    combine: Wire.Texts;
    said: Wire.Texts;
    list: PlainHtml[];
  }

  /** name, kind, label, path, x, y, width, height, colour, texts, opened */
  type Tile = [string, string, string, string, number, number, number, number, string, string[], boolean];

  /** x, y, width, height in px of the screen */
  type Area = [number, number, number, number];

  /** layouts/graphs/graph/treemap.py */
  interface Treemap extends Size {
    tiles: Tile[];
    crumbs: [string, string][];
    legend: [string, string, string][];
    weight?: string;
    unsized?: Wire.Texts | null;
  }

  /** What the canvas draws, and all that its modules keep about it. */
  interface CanvasPage extends KeptPage {
    run: { name: string } | null;
    drawing: Drawn;
    /** the drawing that cytoscape has taken over */
    there: Drawn | null;
    /** ids of boxes by their names */
    keys: Map<string, string>;
    opened: string[];
    /** whether the camera is to show the whole graph */
    fit: boolean;
    /** the box that stays in place while another drawing comes */
    anchor: string | null;
    centre: boolean;
    /** the box that was asked for last, though the graph may not have it */
    sought: string | null;
    /** size before full screen was toggled */
    turned: [number, number] | null;
    turns: number;
    /** the first camera, which is not part of a link; undefined until there is one */
    home: string | undefined;
    looked: string | null;
    painted: Painted | null;
    /** scale of the minimap */
    mini: number;
    walked: Walk | null;
    /** called when the chosen box is marked */
    marked(page: CanvasPage): void;
  }

  interface PaintControls {
    source: HTMLSelectElement;
    part: HTMLSelectElement;
    range: HTMLInputElement;
    at: HTMLOutputElement;
    before: HTMLButtonElement;
    after: HTMLButtonElement;
    log: HTMLButtonElement;
    steps: HTMLSpanElement;
    bar: HTMLDivElement;
    csv: HTMLButtonElement;
    notes: HTMLParagraphElement;
  }

  /** What is painted by which metric: graph/paint.js */
  interface PaintFields {
    metric: HTMLSelectElement;
    paints: PaintControls;
    paintAsked: Wire.Query | null;
    paintLanguage: string;
    paintTurn: number;
    paintTimer: number;
  }

  /** Search: graph/side.js */
  interface SideFields {
    input: HTMLInputElement;
    regex: HTMLButtonElement;
  }

  /** Statistics: graph/treemap.js */
  interface TreemapFields {
    tip: HTMLDivElement;
    tiles: Treemap;
    mapWidth: number;
    areas: Area[];
    /** whether a scope was entered by key */
    entered: boolean;
    flag: HTMLInputElement;
    every: HTMLButtonElement;
  }

  /** Buttons and choices above the canvas: graph/page.js */
  interface ControlFields {
    runs: HTMLSelectElement;
    graphs: HTMLSelectElement;
    views: HTMLElement;
    simple: HTMLButtonElement;
    parameters: HTMLButtonElement;
    constants: HTMLButtonElement;
    compare: HTMLButtonElement;
    others: HTMLSelectElement;
    hiddenCount: HTMLSpanElement;
    collapse: HTMLButtonElement;
    counts: HTMLSpanElement;
    left: HTMLSpanElement;
    painting: HTMLLabelElement;
  }

  /** The page of a computation graph. */
  interface Page extends CanvasPage, PaintFields, SideFields, TreemapFields, ControlFields {
    run: Run | null;
    catalogue: Catalogue;
    graph: Graph | null;
    /** run and graph that this one is compared with */
    against: [string, string] | null;
    asked: Wire.Query | null;
    /** what was asked of each part beside the canvas */
    sent: (Wire.Query | null)[] | null;
    language: string;
    /** timer */
    listing: number;
    /** timer of the next question for a graph that is being read, and the number of such questions */
    asksAgain: number;
    askedAgain: number;
    /** whether the graph is being read, or was until that was stopped */
    reading: boolean;
    /** number of files that were saved */
    saved: number;
  }

  /** layouts/graphs/dataset/boxes.py: sizes in px */
  interface BoxSize {
    width: number;
    between: number;
    head: number;
    line: number;
    part: number;
  }

  interface Fonts {
    title: string;
    name: string;
    text: string;
    small: string;
  }

  interface BoxLine {
    role: string;
    name: string;
    text: string;
    y: number;
    changed: boolean;
  }

  interface Box extends Point {
    number: number;
    kind: string;
    title: string;
    height: number;
    hidden: number;
    only: boolean;
    changed: boolean;
    lines: BoxLine[];
  }

  interface ColouredRun extends Wire.KeyAndName {
    colour: string;
  }

  interface Pipeline extends Size {
    mark: string;
    letter: string;
    runs: ColouredRun[];
    boxes: Box[];
    /** from, to, corners of the line */
    links: [number, number, [number, number][]][];
    total: number;
    problem: string;
    alternative: Wire.Texts;
  }

  /** layouts/graphs/dataset/catalogue.py */
  interface DatasetCatalogue {
    digest: string;
    chosen: number;
    pipelines: Pipeline[];
    broken: { name: string }[];
    left: number;
    unseen: number;
    waiting: number;
    without: string[];
    without_total: number;
    damage: Wire.FileAndText[];
    elsewhere: Wire.KeyAndName[];
  }

  interface DatasetPage extends KeptPage {
    catalogue: DatasetCatalogue;
    /** digest and language of what is drawn */
    drawn: string;
    /** of the runs drawn */
    names: import("../kit/names.js").Names;
    box: BoxSize;
    /** boxes in a row */
    columns: number;
    width: number;
    /** whether the operation of the link was scrolled to */
    revealed: boolean;
    saved: number;
  }

  /** An element of cytoscape or several: each has its methods for all. */
  interface Elements {
    readonly length: number;
    [place: number]: Elements;
    addClass(names: string): Elements;
    removeClass(names: string): Elements;
    hasClass(name: string): boolean;
    toggleClass(name: string, on: boolean): Elements;
    removeStyle(name: string): Elements;
    style(name: string, value: string | number): Elements;
    data(): ElementData;
    data(changes: object): Elements;
    data<Key extends keyof ElementData>(name: Key): ElementData[Key];
    data(name: string, value: string): Elements;
    id(): string;
    position(): Point;
    isEdge(): boolean;
    isNode(): boolean;
    nonempty(): boolean;
    filter(wanted: (element: Elements) => boolean): Elements;
    map<Made>(make: (element: Elements) => Made): Made[];
    forEach(act: (element: Elements) => void): void;
    not(others: string | Elements): Elements;
    union(others: Elements): Elements;
    edges(): Elements;
    edgesWith(others: Elements): Elements;
    connectedEdges(): Elements;
    connectedNodes(): Elements;
    incomers(selector: string): Elements;
    outgoers(selector: string): Elements;
    source(): Elements;
    target(): Elements;
    sourceEndpoint(): Point;
    targetEndpoint(): Point;
    midpoint(): Point;
    /** undefined for edges that are drawn otherwise */
    segmentPoints(): Point[] | undefined;
    controlPoints(): Point[] | undefined;
  }

  interface CyEvent {
    target: Elements | Cytoscape;
    renderedPosition: Point;
  }

  interface Cytoscape {
    container(): HTMLElement;
    width(): number;
    height(): number;
    resize(): void;
    extent(): Rectangle;
    zoom(): number;
    zoom(to: number | { level: number; renderedPosition: Point }): void;
    pan(): Point;
    pan(to: Point): void;
    panBy(by: Point): void;
    viewport(camera: Camera): void;
    center(elements?: Elements): void;
    fit(elements: Elements | undefined, padding: number): void;
    batch(act: () => void): void;
    collection(elements: Elements[]): Elements;
    elements(selector?: string): Elements;
    nodes(selector?: string): Elements;
    edges(selector?: string): Elements;
    getElementById(id: string): Elements;
    on(names: string, act: (event: CyEvent) => void): void;
    on(names: string, selector: string, act: (event: CyEvent & { target: Elements }) => void): void;
    png(options: { output: "blob"; full: boolean; bg: string; scale: number; maxWidth: number; maxHeight: number }): Blob;
  }
}
