// Figures as layouts sends them and as plotly keeps them, as far as our modules read and write them.

interface Plotly {
  toImage(figure: PlotlyFigure, options: Record<string, unknown>): Promise<string>;
  newPlot(plot: HTMLElement, data: unknown[], layout?: unknown, config?: unknown): Promise<any>;
  react(plot: HTMLElement, data: unknown[], layout?: unknown, config?: unknown): Promise<any>;
  relayout(plot: HTMLElement, changes: Record<string, unknown>): Promise<any>;
  restyle(plot: HTMLElement, changes: Record<string, unknown>, traces?: number[]): Promise<any>;
  purge(plot: HTMLElement): void;
  [more: string]: any;
}

interface PlotlyAxis {
  type?: string;
  range?: (number | string)[];
  autorange?: boolean | string;
  title?: { text?: string };
  gridcolor?: string;
  zerolinecolor?: string;
  tickvals?: number[];
  ticktext?: string[];
  [more: string]: unknown;
}

interface PlotlyLayout {
  margin?: { t?: number; [side: string]: number | undefined };
  xaxis?: PlotlyAxis;
  yaxis?: PlotlyAxis;
  meta?: { alternative?: Wire.Texts; [more: string]: unknown };
  [more: string]: unknown;
}

/** An array as layouts/kit/figures/typed_arrays.py sends it: base64 of its bytes. */
interface SentArray {
  dtype: string;
  bdata: string;
}

interface PlotlyTrace {
  type?: string;
  name?: string;
  visible?: boolean | string;
  [more: string]: unknown;
}

interface PlotlyFigure {
  data: PlotlyTrace[];
  layout: PlotlyLayout;
}

/** The element of a figure once plotly has drawn it. */
interface PlotlyElement extends HTMLElement, PlotlyFigure {
  on(name: string, act: (event: PlotlyEvent) => unknown): void;
}

interface PlotlyEvent {
  points?: PlotlyPoint[];
  event?: MouseEvent;
  [changed: string]: unknown;
}

interface PlotlyPoint {
  curveNumber: number;
  pointNumber: number;
  x: number;
  y: number;
  data: PlotlyTrace;
  customdata?: unknown;
}
