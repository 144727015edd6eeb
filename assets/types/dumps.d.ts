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

  interface Page extends Body.Page, Choice, LiveTraining.Fields {
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

declare namespace TwoDumps {
  interface Page extends Dumps.Page {
    tolerance: HTMLInputElement;
    findField: HTMLInputElement;
    shown: HTMLElement;
    swap: HTMLButtonElement;
    /** the dump that was chosen to compare with, "" if somebody chose */
    automatic: string;
    /** what the search is about, and the first iteration that differs */
    searched: string;
    earliest: { of: string, step: number | null, alike: number, shared: number } | null;
  }
}

declare namespace LiveTraining {
  /** layouts/dumps/live_sessions.py */
  interface Session {
    key: string;
    mark: string;
    state: string;
    reason: string;
    version: string;
    client: string;
    backend: string;
    graph: number;
    step: number;
    node: string;
    left: number;
    hits: number;
    heard_s: number;
    recheck: boolean;
    refused: number;
    refusal: string;
    unsent: number;
    unusual: boolean;
  }

  interface Status {
    sessions: Session[];
    turned_away: number;
    read_only: boolean;
  }

  /** What dumps/live.js keeps of a page. */
  interface Fields {
    /** null before the first answer */
    live: Status | null;
    liveError: string;
    liveRefused: string;
    /** called after each answer that tells something new */
    liveChanged(): void;
    liveTimer: number;
    liveParts: Parts | null;
  }

  interface Parts {
    steps: HTMLInputElement;
    buttons: Record<"continue" | "until" | "node" | "next" | "recheck" | "pause" | "dismiss", HTMLButtonElement>;
    sure: HTMLDetailsElement;
    state: HTMLElement;
    facts: HTMLElement;
    about: HTMLElement;
    error: HTMLElement;
  }
}
