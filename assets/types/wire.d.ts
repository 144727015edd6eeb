// What crosses the wire in stores that more than one module reads. tests/layouts/test_wire.py checks every declaration here
// against what the server sends; pages keep to themselves what only they read.

declare namespace Wire {
  /** A page's state or what a card asks for: a URL query. */
  type Query = Record<string, string[]>;

  /** English and Chinese. */
  type Texts = [string, string];

  /** layouts/shell/run_list.py */
  interface RunRow {
    key: string;
    name: string;
    path: string;
    real: string;
    members: string[];
    colours: string[];
    hue: number;
    hand: Record<string, [string, number]>;
    started: number | null;
    updated: number;
    size: number;
    sizeText: string;
    state: string;
    steps: number;
    points: number;
    tags: Record<string, number>;
    tag: string;
    value: number | null;
    valueText: string;
    valueExact: string;
    problems: number;
  }

  interface Note {
    remark: string;
    tags: string[];
    version: string;
  }

  interface View {
    key: string;
    name: string;
    place: string;
    version: string;
  }

  interface Mark {
    key: string;
    name: string;
    session: string;
    rank: number;
    times: number[];
    version: string;
  }

  interface BoardHead {
    key: string;
    name: string;
    /** of the board with all of its cards */
    version: string;
    /** number of cards */
    count: number;
  }

  /** layouts/runs/boards.py */
  interface BoardCard {
    key: string;
    /** path and query of a page, null for a card of text */
    place: string | null;
    part: string;
    title: string;
    text: string;
    x: number;
    y: number;
    w: number;
    h: number;
    version: string;
  }

  /** app/routes/runs/boards.py */
  interface Board {
    format: string;
    version: number;
    name: string;
    cards: BoardCard[];
    key: string;
    mark: string;
  }

  interface Notebook {
    kept: boolean;
    empty: Note;
    whyNot: string;
    notes: Record<string, Note>;
    views: View[];
    marks: Record<string, Mark[]>;
    boards: BoardHead[];
  }

  /** layouts/shell/run_list.py */
  interface RunChanges {
    /** the mark that these changes begin at */
    since: string;
    mark: string;
    /** rows are all runs */
    whole: boolean;
    rows: RunRow[];
    /** keys of rows that no longer exist */
    gone: string[];
    /** null: all that have data of a kind that the page shows */
    default: string[] | null;
    newest: number | null;
    also: string[];
    /** null: as before */
    notebook: Notebook | null;
  }

  /** run, kind, path, offset, length, text */
  type ProblemRow = [string, string, string, number, number, string];

  interface Problems {
    run: string;
    failed: string;
    total: number;
    verified: [number, number];
    rows: ProblemRow[];
  }

  /** layouts/sources.py: SourceStatus, and how many large values are verified, of how many */
  interface Status {
    base: string;
    read_at: number | null;
    interval: number;
    total: number;
    loaded: number;
    problems: number;
    version: number;
    failed: string;
    age: number;
    missing: boolean;
    verified: [number, number];
  }

  /** layouts/kit/cards/catalogue.py */
  interface TagCatalogue {
    digest: string;
    runs: string[];
    tags: string[];
    waiting: number;
    total: number;
    damage: FileAndText[];
  }

  /** layouts/runs/damage.py */
  type FileAndText = [string, string];

  /** layouts/kit/cards/recorded.py: steps and walls are a first value and differences; steps of a series is an index. */
  interface Recorded {
    tags: string[];
    steps: number[][];
    series: RecordedSeries[];
  }

  interface RecordedSeries {
    run: string;
    label: string;
    colour: string;
    steps: number;
    walls: number[];
  }

  interface KeyAndName {
    key: string;
    name: string;
  }

  /** layouts/profiles/catalogue.py */
  interface ProfileKind {
    device: string;
    frames: string[];
    files: string[];
    more: number;
  }

  interface ProfiledRun {
    key: string;
    name: string;
    total: number;
    listed: number;
  }

  /** Columns of the profiles of a job: a list, or what all are alike. */
  interface ProfiledJob {
    name: string;
    title: string;
    updated: number;
    whole: string;
    run: number | number[];
    session: string | string[];
    rank: number[];
    kind: number | number[];
    mark: string | string[];
  }

  interface ProfileCatalogue {
    digest: string;
    chosen: number;
    runs: ProfiledRun[];
    jobs: ProfiledJob[];
    kinds: ProfileKind[];
    left: number;
    waiting: number;
    damage: FileAndText[];
    elsewhere: KeyAndName[];
  }

  interface DamagedFile {
    path: string;
    text: string;
  }

  /** layouts/profiles/reading_progress.py; of: run, session, rank, mark */
  interface Reading {
    of: [string, string, number, string];
    state: string;
    problems: DamagedFile[];
    more: number;
    frames?: string[];
    wanted?: string[];
    which?: string;
    name?: string;
    done?: number;
    total?: number;
    text?: string;
  }

  /** layouts/dumps/catalogue.py; dumps: key, name, version */
  interface DumpCatalogue {
    digest: string;
    chosen: number;
    dumps: [string, string, string][];
    left: number;
    waiting: number;
    damage: FileAndText[];
    elsewhere: KeyAndName[];
    /** where training can connect, "" for nowhere */
    live: string;
    /** key and mark */
    sessions: [string, string][];
  }

  /** layouts/dumps/listing.py */
  interface DumpListing {
    of: string;
    against: string;
    state: string;
    text: string;
    mark: string;
    ranks?: number[];
    steps?: number[];
    rows?: number;
    problems?: DamagedFile[];
    more?: number;
    with: null | ListedDump;
  }

  interface ListedDump {
    state: string;
    text: string;
    mark: string;
    ranks?: number[];
    steps?: number[];
    rows?: number;
    problems?: DamagedFile[];
    more?: number;
  }

  /** layouts/explanations/listing.py; runs: key, name, version */
  interface ExplanationCatalogue {
    digest: string;
    chosen: number;
    runs: [string, string, string][];
    left: number;
    waiting: number;
    damage: FileAndText[];
    elsewhere: KeyAndName[];
  }

  /** number, name, samples it was recorded for, samples it is true of */
  type LabelRow = [number, string, number, number];

  /** layouts/explanations/listing.py */
  interface ExplanationListing {
    of: string;
    state: string;
    text: string;
    mark: string;
    behind: boolean;
    samples?: number;
    maps?: number;
    labels?: LabelRow[];
    explainers?: string[];
    metrics?: string[];
    complete?: boolean;
    uncertain?: boolean;
    problems?: DamagedFile[];
    more?: number;
  }

  /** layouts/shell/shell.py; missing is a Dash component. */
  interface ShellPage {
    frame: string;
    title: Texts;
    content: string;
    keeps: string[];
  }

  interface ShellPages {
    prefix: string;
    pages: Record<string, ShellPage>;
    formerly: Record<string, string>;
    missing: any;
  }

  /** What the index page says of the pages that are not open: URLs. app/web/server.py */
  interface Needed {
    scripts: string[];
    styles: string[];
    modules: string[];
  }
}
