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
  yaxis2?: PlotlyAxis;
  width?: number;
  height?: number;
  dragmode?: string;
  meta?: any;
  [more: string]: any;
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

/** Numbers as a trace has them. */
type SentColumn = Wire.SentArray | Numbers | null | undefined;

/** layouts/curves/lines.py: what the scripts know of a line beside its points. */
interface SentMeta {
  key: string;
  /** place of the trace with the values before smoothing */
  raw?: number | null;
  step?: Wire.SentArray & { x0?: number; dx?: number };
  time?: { first: number; steps: Wire.SentArray; seconds?: Wire.SentArray };
  n?: Wire.SentArray;
  /** of a group, runs whose last value is not finite */
  lost?: Wire.SentArray;
  members?: number;
  low?: Wire.SentArray;
  high?: Wire.SentArray;
  colour?: string;
  count?: Wire.SentArray;
  /** kind of values that are not finite */
  mark?: number;
  runs?: string[];
  /** the last value of a run */
  last?: Wire.ShownLast | null;
  /** of points written again after a restart, the key of their run */
  superseded?: string;
  label: string;
  tag: string;
  /** when the run began, s */
  started: number;
  [more: string]: unknown;
}

/** A trace as layouts/figures sends it. */
interface SentTrace extends PlotlyTrace {
  x?: Wire.SentArray | Numbers;
  x0?: number;
  dx?: number;
  y: Wire.SentArray & Numbers;
  z?: Wire.SentArray | Numbers;
  yaxis?: string;
  mode?: string;
  fill?: string;
  fillcolor?: string;
  opacity?: number;
  marker: { color: string; size: number };
  line: { color: string; width: number; dash?: string };
  meta: SentMeta;
}

/** What the server answers for a card: a figure whose lines may be on a canvas. */
interface Drawing {
  data: SentTrace[];
  layout: PlotlyLayout;
  canvas?: SentTrace[];
  meta?: Record<string, unknown>;
}

/** An axis that plotly has placed. */
interface PlotlyAxisDrawn {
  _offset: number;
  _length: number;
  l2p(value: number): number;
  p2l(pixel: number): number;
}

interface PlotlyDrawn extends PlotlyElement {
  _fullLayout: Record<string, any>;
}

/** A page with cards of histograms, as far as the table and the legend know it. */
interface HistogramPage extends KeptPage {
  asks: (Wire.Query | null)[];
  catalogue: Wire.TagCatalogue;
  slot(number: number): HTMLElement;
  hovered: { card: HTMLElement; pointer: { x: number; y: number } } | null;
  linkedCards: HTMLElement[];
}
