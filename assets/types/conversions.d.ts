// The conversion page: assets/graphs/conversion/page.js makes its record.

declare namespace Conversions {
  /** layouts/graphs/conversion/page.py */
  interface Answer extends PartAnswer {
    sections?: Record<string, Graphs.PlainHtml[]>;
    figure?: PlotlyFigure | null;
  }

  /** What the colours of boxes mean: texts and colours, and the bar of a scale. */
  interface Legend {
    keys: [Wire.Texts, string][];
    bar: { colours: string[], ticks: [number, string][] } | null;
  }

  /** layouts/graphs/conversion/drawing.py */
  interface Drawing extends PartAnswer {
    elements: Graphs.DrawnElement[];
    stylesheet: unknown[];
    meta: Graphs.DrawingMeta & { legend: Legend };
  }

  /** The record of the canvas. */
  interface Canvas extends Graphs.CanvasPage {
    /** the conversion whose graph is drawn */
    of: string;
    /** the boxes that are open, where a link opened them */
    kept: string[] | null;
    wanted: Wire.Query | null;
  }

  interface Page extends Body.Page, PageOfParts {
    catalogue: Wire.ConversionCatalogue;
    reading: Wire.ConversionListing | null;
    kind: Body.Kind<Body.Page>;
    run: { key: string, name: string, version: string, model: string };
    listed: Wire.ConversionListing;
    runChoice: HTMLSelectElement;
    modelChoice: HTMLSelectElement;
    /** the buttons that choose what boxes are coloured by */
    colours: HTMLElement;
    graph: Canvas;
  }
}
