// Pages about explanations: assets/explanations/explanations.js keeps their common record.

declare namespace Explanations {
  /** Explanations that have been read: layouts/explanations/listing.py */
  interface Listed extends Wire.ExplanationListing {
    samples: number;
    maps: number;
    labels: Wire.LabelRow[];
    explainers: string[];
    metrics: string[];
    complete: boolean;
    uncertain: boolean;
    problems: Wire.DamagedFile[];
    more: number;
    notes?: number;
  }

  /** assets/explanations/labels.js */
  interface LabelPicker {
    element: HTMLElement;
    draw(labels: Wire.LabelRow[], chosen: string[]): void;
  }

  interface Controls {
    run: HTMLSelectElement;
    label: LabelPicker;
    truth: LabelPicker;
    predicted: LabelPicker;
    outcome: HTMLElement;
    threshold: { element: HTMLElement, range: HTMLInputElement, field: HTMLInputElement };
    search: HTMLInputElement;
    sort: HTMLSelectElement;
    explainer: HTMLElement;
  }

  interface Page extends Body.Page {
    catalogue: Wire.ExplanationCatalogue;
    reading: Wire.ExplanationListing | null;
    run: { key: string, name: string, version: string };
    listed: Listed;
    /** the last final answer */
    kept: Wire.ExplanationListing | null;
    /** the listing whose labels are in `names` */
    named: Listed | null;
    names: Map<number, string>;
    parts: Map<string, AskedPart>;
    controls: Controls;
    /** says how many samples the filters keep */
    total: HTMLElement;
    /** the button that clears the filters */
    clear: HTMLButtonElement;
    /** names of the controls in the bar */
    offered: string[];
  }
}
