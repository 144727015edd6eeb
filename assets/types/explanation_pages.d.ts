// Records of pages about explanations; what the server sends for them is in layouts/explanations.

declare namespace Confusion {
  interface Page extends Explanations.Page {
    shades: HTMLElement;
    shown: Explanations.LabelPicker;
    questions: HTMLElement;
    /** the question that the curve of reliability answers, "" before an answer */
    question: string;
    bins: HTMLSelectElement;
    against: HTMLSelectElement;
    kinds: HTMLElement;
  }
}

declare namespace Counterfactual {
  /** number, probability, boxes, share that is visible */
  type Layer = [number, number | null, string, number | null];

  /** A label of a sample with its layers. */
  interface Explained {
    label: number;
    recorded: number | null;
    outcome: string;
    truth: boolean;
    /** whether the kind of mask is known */
    drawable: boolean;
    mask: string;
    layers: Layer[];
  }

  interface Sample {
    id: number;
    image: string;
    problem: string;
    labels: Explained[];
  }

  /** layouts/explanations/counterfactual/page.py */
  interface Detail extends PartAnswer {
    sample: Sample | null;
    label: number;
    layer: number;
    figure: PlotlyFigure | null;
    /** place in the list, -1 for none */
    at: number;
    previous: number | null;
    next: number | null;
  }

  interface Page extends Explanations.Page {
    list: Debugger.RowList;
    /** whether samples without counterfactuals are hidden */
    hide: HTMLInputElement;
    /** what is listed, as JSON */
    filters: string;
    detail: Detail | null;
  }
}

declare namespace Saliency {
  /** number, probability, deviation, low, high, whether it is true, outcome */
  type LabelCells = [number, number | null, number | null, number | null, number | null, boolean, string];

  /** layouts/explanations/saliency/page.py */
  interface Sample {
    id: number;
    image: string;
    inferred: boolean;
    disagreement: number | null;
    labels: LabelCells[];
    /** number of labels that were not sent */
    more: number;
    /** place of the explainer and label, of each map */
    maps: [number, number][];
  }

  /** A sample with its neighbours in the list. */
  interface Sampled extends PartAnswer {
    card: Sample | null;
    place: number;
    total: number;
    previous: number | null;
    next: number | null;
    pairs: [string, string, number][];
  }

  /** What maps are drawn with: saliency/map_controls.js */
  interface Looks {
    over: HTMLButtonElement;
    range: HTMLInputElement;
    colours: HTMLSelectElement;
    ramp: HTMLCanvasElement;
    scale: HTMLElement;
  }

  interface Page extends Explanations.Page {
    /** of tall_rows.js */
    rows: any;
    csv: HTMLElement;
    dialog: HTMLDialogElement;
    looks: Looks;
    /** tables of colours as the page has them, and those that were decoded */
    tables: Record<string, string>;
    decoded: Record<string, Uint8Array>;
    /** px of a picture */
    side: number;
    /** the address of what is listed, its filters and its run */
    list: string;
    filters: Wire.Query;
    of: string;
    /** what is shown of samples, and how maps are drawn, as JSON */
    shown: string;
    look: string;
    /** of the last answer: the address it is about, whether its order is final, its mark */
    listKey: string;
    settled: boolean;
    mark: string;
    /** the sample that was scrolled to */
    sought: string;
    /** the enlarged sample; a step that waits for it, 0 for none */
    sampled: Sampled | null;
    pending: number;
    /** what is enlarged and how its maps are drawn, as JSON */
    enlarged: string;
    enlargedLook: string;
    /** the run that the sentence is about */
    looksOf: string;
  }
}

declare namespace Scores {
  interface Page extends Explanations.Page {
    /** metric and hundredths */
    weights: [string, number][];
    reset: HTMLButtonElement;
    sides: HTMLElement;
    one: HTMLSelectElement;
    order: HTMLSelectElement;
    shown: Explanations.LabelPicker;
  }
}

declare namespace Uncertainty {
  interface Page extends Explanations.Page {
    /** fields of both ends by key of the state */
    fields: Map<string, HTMLInputElement[]>;
    everything: HTMLButtonElement;
    there: HTMLAnchorElement;
  }
}
