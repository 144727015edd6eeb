// Pages about a dump: assets/dumps/dumps.js keeps their common record.

declare namespace Dumps {
  /** A dump of a run, or live training: its key is that of a row, or "live:1". */
  interface Entry {
    key: string;
    name: string;
    version: string;
  }

  /** A dump that is listed: layouts/dumps/listing.py */
  interface Listed extends Wire.ListedDump {
    ranks: number[];
    steps: number[];
    problems: Wire.DamagedFile[];
    more: number;
    notes?: number;
  }

  /** A dump with rank and iteration. */
  interface Choice {
    dump: Entry;
    listed: Listed;
    rank: number;
    /** null where the dump has no iteration */
    step: number | null;
  }

  interface Controls {
    run: HTMLSelectElement;
    rank: Profiles.NumberPicker;
    step: Profiles.NumberPicker;
    with: HTMLSelectElement;
    withRank: Profiles.NumberPicker;
    withStep: Profiles.NumberPicker;
    compare: HTMLButtonElement;
  }

  interface First {
    /** the iteration to show if the state names none; null for the last one */
    first?(page: Page): number | null;
  }

  interface Page extends Body.Page, Choice {
    catalogue: Wire.DumpCatalogue;
    reading: Wire.DumpListing | null;
    kind: Body.Kind<Body.Page> & First;
    /** what it is compared with */
    against: Choice | null;
    /** what it cannot be compared with (yet), and the state of its listing */
    unready: { dump: Entry, listed: { state: string, text?: string, problems?: Wire.DamagedFile[] } } | null;
    /** the last final answer: a dump that grows is listed again meanwhile */
    kept: Wire.DumpListing | null;
    /** key of the dump that opened where the address names none */
    opened: string;
    parts: Map<string, AskedPart>;
    controls: Controls;
  }
}

declare namespace FirstCause {
  /** rank, iteration and kind of a row of the table of causes */
  type Row = [number, number, string];

  interface Tensor {
    rank: number;
    node: string;
    io: string;
  }

  /** layouts/dumps/first_cause/page.py: sections are there once there is something to show */
  interface Answer extends PartAnswer {
    sections?: Record<string, Graphs.PlainHtml[]>;
  }

  interface Causes extends Answer {
    rows: Row[];
    tensor: Tensor | null;
  }

  interface Spread extends Answer {
    figure: PlotlyFigure | null;
    step: number;
    rank: number;
    kind: string;
    ranked: boolean;
  }

  interface Departures extends Answer {
    tensor: Tensor | null;
  }

  interface Norms extends PartAnswer {
    figure: PlotlyFigure | null;
    node: string;
    io: string;
    /** the tag of the loss, "" for none */
    loss: string;
  }

  interface Page extends Dumps.Page {
    rows: Row[];
    /** whether all causes have been found */
    found: boolean;
    /** the first tensor with bad values, and the first whose norm left its history */
    first: Tensor | null;
    departed: Tensor | null;
  }
}
