// What other libraries put on the page, as far as our modules use it. Not strict: what is `any` here is checked by tests.

interface Window {
  /** Dash: our clientside functions by namespace, and what Dash itself puts beside them. */
  dash_clientside: DashClientside;
  /** Dash: the component of an id, as it is now. */
  dash_component_api: { getLayout(id: string): { props: Record<string, unknown> } | undefined };
  DashRenderer: new (...hooks: unknown[]) => unknown;
  dashAgGridFunctions: Record<string, (...values: any[]) => any>;
  dashAgGridComponentFunctions: Record<string, (props: any) => any>;
  dash_ag_grid: { getApiAsync(id: string): Promise<GridApi> };
  dash_cytoscape?: DashCytoscape;
  Plotly: Plotly;
  /** Dash: the address of plotly.js */
  _dashPlotlyJSURL: string;
  React: { createElement(...parts: unknown[]): unknown };
  /** early/prefs.js */
  mindscope: { prefs: KeptPreferences };
  /** early/hold.js */
  mindscopeModules: Promise<unknown>[];
}

/** dash-cytoscape: its component, with what Cytoscape is given where the server names nothing. */
interface DashCytoscape {
  Cytoscape: { defaultProps: Record<string, unknown> };
}

/** Functions of a namespace that Dash calls with the values of inputs and states. */
// Dash checks no types: what a function takes is what the callback in Python names.
type ClientsideFunctions = Record<string, (...values: any[]) => unknown>;

/** What Dash takes for "leave this output as it is". */
type NoUpdate = { readonly kind: unique symbol };

interface DashClientside {
  no_update: NoUpdate;
  set_props(id: string | Record<string, string>, props: Record<string, unknown>): void;
  callback_context: { inputs_list: { id: string; property: string; value?: unknown }[] };
  [namespace: string]: any;
}

/** Values that a text names in braces. */
type TextValues = Record<string, string | number>;

/** Numbers as scripts keep them: typed, or a list. */
type Numbers = number[] | Float64Array | Float32Array | Int32Array | Uint32Array | Int16Array | Uint16Array | Int8Array | Uint8Array;

/** A page on screen: kit/pages.js. */
interface KeptPage {
  root: HTMLElement;
  state: Wire.Query;
  /** the id of a component of the page */
  store(part: string): string;
  find(selector: string): any;
  change(changes: Wire.Query): void;
}

/** The fields of a page beside those of a KeptPage: what its function `fresh` returns. */
type OwnFields<Page extends KeptPage> = Omit<Page, keyof KeptPage>;

/** An answer of the server to a question about a part of a page: layouts/kit/page_parts.py. */
interface PartAnswer {
  part: string;
  turn: string;
  state: string;
}

/** A question about a part, and its number. */
interface AskedPart {
  turn: number;
  ask: Wire.Query | null;
  timer?: number;
}

/** A page whose parts the server answers one by one: kit/page_parts.js. */
interface PageOfParts extends KeptPage {
  parts: Map<string, AskedPart>;
  kind: { answers?: Record<string, (page: any, answer: any) => void> };
}

/** AG Grid, as far as we call it. */
interface GridApi {
  isDestroyed(): boolean;
  getRowNode(id: string): GridNode | undefined;
  setFocusedCell(row: number, column: string): void;
  addEventListener(name: string, act: (event: GridEvent) => void): void;
  forEachNodeAfterFilterAndSort(act: (node: GridNode) => void): void;
  getSelectedRows<Row>(): Row[];
  getColumnState(): GridColumnState[];
  getFilterModel(): Record<string, GridFilter> | null;
  [more: string]: any;
}

interface GridFilter {
  filter?: unknown;
  conditions?: GridFilter[];
  [more: string]: unknown;
}

interface GridColumnState {
  colId: string;
  sort: "asc" | "desc" | null;
  sortIndex: number;
  pinned: string | null;
}

interface GridNode {
  id: string;
  rowIndex: number;
  data: any;
  [more: string]: any;
}

interface GridEvent {
  data: any;
  node: GridNode;
  event: KeyboardEvent;
  source: string;
  [more: string]: any;
}

/** What a user chooses for all pages: early/prefs.js. */
interface Preferences {
  theme: "light" | "dark";
  lang: "en" | "zh";
  refresh: boolean;
  /** strictness of insights as the list of kit/strictness.js, joined by commas */
  insights: string;
  /** what charts show at the pointer: curves/scalars/hover_settings.js */
  hover: { order?: string; columns?: string[] };
  /** seconds between looks for new data */
  interval: number;
  /** px of the column beside the cards, 0 for its own */
  side: number;
  folded: boolean;
  /** framework whose code is shown where data is missing: one of TOOLS of layouts/kit/recording.py */
  tool: string;
}

interface KeptPreferences {
  ours: boolean;
  alone: boolean;
  led: boolean;
  current(): Preferences;
  set(changes: Partial<Preferences>): void;
  apply(): void;
}

/** The list of runs that kit/runs.js puts together. */
interface RunList {
  mark: string;
  /** newest first */
  rows: Wire.RunRow[];
  /** keys of the members on screen where the state names none */
  default: string[];
  /** the most runs these belong to, null for all */
  usual: number | null;
  /** the scalar by which these are the best, empty if they are the newest */
  bestBy: string;
  /** number of groups of runs whose names differ in the seed alone, if these are the best of each, else 0 */
  groups: number;
  /** kinds of data that pages can show without a run */
  also: string[];
  notebook: Wire.Notebook;
}

// Selectors name elements that our own scripts or layouts have made, so their kind is known where they are used.
interface ParentNode {
  querySelector(selectors: string): any;
  querySelectorAll(selectors: string): NodeListOf<any>;
}

interface Element {
  closest(selectors: string): any;
  readonly isContentEditable: boolean;
  /** Of a details element. */
  open: boolean;
}

/** Our own events: mindscope:answer, mindscope:notes. */
interface Event {
  detail: any;
}

interface Document {
  getElementById(id: string): any;
  readonly activeElement: any;
}

interface EventTarget {
  closest(selectors: string): any;
}

/** A component of Dash as the server sends it. */
interface DashComponent {
  props: { children: DashComponent[]; [name: string]: any };
  [more: string]: unknown;
}
