// Pages of recorded values: their records. What the server sends for them is in generated.d.ts.

declare namespace Histograms {
  /** A position of the slider: the nth value of a step, and how many there are. */
  interface SliderPosition extends Position {
    of: number;
  }

  interface SliderHost extends HTMLElement {
    positions: SliderPosition[];
  }

  interface Figure extends Drawing {
    layout: PlotlyLayout & { meta: Wire.HistogramMeta };
  }

  interface Page extends CardsPage {
    drawings: Map<number, Figure>;
    histogramControls: Record<"view" | "runs" | "scale" | "colour" | "apart", HTMLElement> & { axis: HTMLSelectElement };
    hovered: HistogramPage["hovered"];
  }
}

declare namespace RecordedTexts {
  /** The beginning of a text, or why there is none: a reason, or the key of one. */
  interface Fetched {
    text?: string;
    total?: number;
    problem?: string;
    reason?: string;
    key?: string;
  }

  interface Figure extends HTMLElement {
    /** timer */
    settling?: number;
  }

  interface Page extends CardsPage {
    /** texts by address */
    kept: Map<string, Fetched>;
  }
}

declare namespace Images {
  type SideName = "a" | "b";

  /** A picture with the address that was last looked at. */
  interface Figure extends HTMLElement {
    looked?: string;
  }

  /** What stands on a side of a comparison. */
  interface Side {
    series: Stepped;
    list: Position[];
    position: Position;
    place: number;
  }

  interface Page extends CardsPage {
    /** sides that are being moved, before the state has them */
    sides: Partial<Record<SideName, string>>;
    /** timers, 0 for none */
    comparing: number;
    splitting: number;
    adjusting: number;
    /** pictures that are fetched before they are shown */
    ahead: HTMLImageElement[];
  }
}
