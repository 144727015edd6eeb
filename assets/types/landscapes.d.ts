// The page of loss landscapes: its record. What the server sends for it is in layouts/values/landscape.

declare namespace Landscape {
  /** A landscape of a run; `done` of `of` points are finished of one that is computed: catalogue.py */
  interface Sheet {
    tag: string;
    name: string;
    mark: string;
    final: boolean;
    line: boolean;
    first: number;
    last: number;
    unit: string;
    broken: string;
    done: number;
    of: number;
    updated: number;
  }

  interface Run {
    key: string;
    name: string;
    colour: string;
    version: number;
    sheets: Sheet[];
  }

  /** A landscape that could be computed. */
  interface Plan {
    name: string;
    directory: string;
    problem: string;
    unit: string;
    checkpoints: number;
    intervals: string;
    size: string;
    samples: number;
  }

  interface Catalogue extends Body.Catalogue {
    runs: Run[];
    plans: Plan[];
  }

  interface Shown {
    run: Run;
    sheet: Sheet;
  }

  /** A trace that moves, with all of its points by axis: path.js */
  interface Track {
    index: number;
    role: string;
    sheet: number;
    points: Record<string, number[]>;
    /** distance to each point of a path */
    along?: number[];
  }

  interface Page extends KeptPage {
    catalogue: Catalogue;
    sheets: Shown[];
    figure: PlotlyFigure | null;
    /** the camera of the figure */
    camera: unknown;
    /** whether plotly.js can draw surfaces */
    solid: "" | "loading" | "ready";
    plot(): any;
    /** counts what is played; what moves, and in which plot */
    playing: number;
    moving: { plot: HTMLElement, tracks: Track[] } | null;
    views: HTMLElement;
    modes: HTMLElement;
    overs: HTMLElement;
    scales: HTMLElement;
    runs: HTMLSelectElement;
    intervals: HTMLSelectElement;
    maps: HTMLSelectElement;
    picks: HTMLDetailsElement;
    /** what the menu of runs, and the list of plans, were made from */
    picked: string;
    plans: string;
  }
}
