// Records of pages about a profile, and what the server sends for them (layouts/profiles).

declare namespace Memory {
  /** Offers of the head: layouts/profiles/memory/page.py */
  interface Offers {
    clocks: string[];
    clock: string;
    devices: number[];
    device: number;
    components: string[];
    component: string;
    graphs?: number[];
    graph?: number;
    /** whether steps are still being read */
    again: boolean;
  }

  /** The explained moment: layouts/profiles/memory/page.py. Offsets in the unit of the clock, from its begin. */
  interface Moment {
    at: number;
    previous: number | null;
    next: number | null;
    /** whether it is the moment of the peak */
    peak: boolean;
    /** whether blocks are known */
    blocks: boolean;
    view: string;
    groupings: string[];
    by: string;
    /** the chosen group */
    part: string | null;
  }

  /** layouts/profiles/memory/curve.py: scale is units of the clock for one of the axis */
  interface CurveMeta {
    scale: number;
    column: number;
    names: string[];
    reduced: boolean;
    least: boolean;
  }

  type Curve = PlotlyFigure & { layout: PlotlyLayout & { meta: CurveMeta } };

  interface Page extends Profiles.Page {
    component: HTMLSelectElement;
    deviceChoice: HTMLSelectElement;
    clock: HTMLSelectElement;
    graph: HTMLSelectElement;
    zoomOut: HTMLButtonElement;
    files: HTMLDetailsElement;
    /** what the menu of files was made from */
    filesOf: string;
    /** GiB of the device, as typed */
    capacity: HTMLInputElement;
    previous: HTMLButtonElement;
    next: HTMLButtonElement;
    peak: HTMLButtonElement;
    by: HTMLSelectElement;
    view: HTMLElement;
    moment: Moment | null;
    curve: Curve | null;
    /** shapes of the curve without the line of the moment */
    curveShapes: any[];
    /** the plot whose drawings are followed */
    marked: HTMLElement | null;
    /** what was asked of the server, by REQUESTS of memory/page.js */
    requests: Record<string, Wire.Query>;
    /** timer */
    later: number;
    /** number of files that were saved */
    saved: number;
  }
}

declare namespace OperatorTable {
  interface Column {
    name: string;
    text: boolean;
    unit: string;
    scale: number;
  }

  /** What the table shows: layouts/profiles/operators/page.py */
  interface Sheet {
    variants: string[];
    variant: string;
    views: string[];
    view: string;
    columns: Column[];
    /** column and direction */
    sort: [string, string];
    rows: number;
    /** the most rows that are saved as shown */
    most: number;
    sums: { types?: number, count?: number, total_ns?: number, self_ns?: number | null };
  }

  interface Page extends Profiles.Page {
    tabs: HTMLElement;
    use: HTMLElement;
    chart: HTMLElement;
    by: HTMLElement;
    amount: HTMLElement;
    form: HTMLElement;
    views: HTMLElement;
    input: HTMLInputElement;
    within: HTMLSelectElement;
    csv: HTMLAnchorElement;
    count: HTMLElement;
    sheet: Sheet;
    facts: { kernels: number, counters: boolean } | null;
    /** whether rows are computed, and saved by a callback */
    made: boolean;
    /** null until the grid is there */
    api: GridApi | null;
    /** columns of the grid, as JSON */
    columnKey: string;
    /** number of files that were saved */
    saved: number;
  }
}

declare namespace Shapes {
  /** layouts/profiles/shapes/page.py */
  interface Facts {
    found: boolean;
    units: string[];
    unit: string;
    /** types drawn, and the most of them */
    drawn: string[];
    most: number;
    operator: string;
  }

  interface Page extends Profiles.Page {
    unit: HTMLElement;
    by: HTMLElement;
    scale: HTMLElement;
    search: HTMLInputElement;
    /** links to CSV by their table */
    links: Map<string, HTMLAnchorElement>;
    facts: Facts | null;
    /** what the figures are about */
    about: Wire.Query;
  }
}

declare namespace StepTimes {
  /** layouts/profiles/steps/page.py */
  interface Facts {
    total: number;
    /** key, form, device; -1 for none */
    traces: [string, string, number][];
    trace: string;
    /** null for the average */
    step: number | null;
    first: number | null;
    last: number | null;
    previous: number | null;
    next: number | null;
    streams_of: number;
    outliers: { step: number, long: boolean, text: Wire.Texts }[];
    outliers_total: number;
  }

  interface Page extends Profiles.Page {
    units: HTMLElement;
    traces: HTMLSelectElement;
    average: HTMLButtonElement;
    previous: HTMLButtonElement;
    next: HTMLButtonElement;
    number: HTMLInputElement;
    stepping: HTMLElement;
    outliersLabel: HTMLElement;
    outliers: HTMLDetailsElement;
    all: HTMLButtonElement;
    timeline: HTMLAnchorElement;
    files: HTMLDetailsElement;
    /** what the menu of files was made from */
    filesOf: string;
    facts: Facts | null;
    /** the role of a trace says which outliers it has */
    bars: { data: { meta: { role?: string } }[], layout: PlotlyLayout } | null;
  }
}
