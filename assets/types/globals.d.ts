// What other libraries put on the page, as far as our modules use it. Not strict: what is `any` here is checked by tests.

interface Window {
  /** Dash: our clientside functions by namespace, and what Dash itself puts beside them. */
  dash_clientside: any;
  DashRenderer: any;
  dashAgGridFunctions: Record<string, (...values: any[]) => any>;
  dashAgGridComponentFunctions: Record<string, (props: any) => any>;
  dash_ag_grid: { getApiAsync(id: string): Promise<any> };
  Plotly: any;
  React: any;
  /** early/prefs.js */
  mindscope: { prefs: KeptPreferences };
  /** early/hold.js */
  mindscopeModules: Promise<unknown>[];
}

/** What a user chooses for all pages: early/prefs.js. */
interface Preferences {
  theme: "light" | "dark";
  lang: "en" | "zh";
  refresh: boolean;
  /** strictness of insights as the list of base/strictness.js, joined by commas */
  insights: string;
  /** what charts show at the pointer: pages/scalars/hover_settings.js */
  hover: { order?: string; columns?: string[] };
  /** seconds between looks for new data */
  interval: number;
  folded: boolean;
}

interface KeptPreferences {
  ours: boolean;
  alone: boolean;
  led: boolean;
  current(): Preferences;
  set(changes: Partial<Preferences>): void;
  apply(): void;
}

/** The list of runs that base/runs.js puts together. */
interface RunList {
  mark: string;
  /** newest first */
  rows: Wire.RunRow[];
  /** keys of the members on screen where the state names none */
  default: string[];
  /** the most runs these belong to, null for all */
  newest: number | null;
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
