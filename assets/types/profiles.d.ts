// Pages about a profile or a job: assets/profiles/profiles.js keeps their common record.

declare namespace Profiles {
  /** A profile with what it takes from its kind and its job: assets/profiles/jobs.js */
  interface Profile extends Wire.ProfileKind {
    rank: number;
    session: string;
    mark: string;
    /** name of the job */
    job: string;
    title: string;
    /** mark of all ranks of the job */
    whole: string;
  }

  interface Entry {
    run: Wire.ProfiledRun;
    profile: Profile;
  }

  interface Job {
    name: string;
    title: string;
    updated: number;
    whole: string;
    members: Entry[];
    byRank: Map<number, Entry>;
  }

  interface Book {
    jobs: Map<string, Job>;
    all: Entry[];
    named: Map<string, Entry>;
  }

  /** kit/number_picker.js */
  interface NumberPicker {
    element: HTMLElement;
    draw(numbers: number[], value: number | null, asked?: number | null): void;
  }

  interface GroupPicker {
    element: HTMLElement;
    draw(groups: [string, string][], value: string): void;
  }

  /** Groups (hash, name) and steps of a job: parsers/analysis/jobs/job_choices.py */
  interface Offered {
    groups: [string, string][];
    steps: number[];
  }

  interface Controls {
    run: HTMLSelectElement;
    job: HTMLSelectElement;
    rank: NumberPicker;
    group: GroupPicker;
    step: NumberPicker;
    with: HTMLSelectElement;
    withRank: NumberPicker;
    compare: HTMLButtonElement;
  }

  interface Page extends Body.Page {
    catalogue: Wire.ProfileCatalogue;
    /** run and profile that are chosen; nothing is drawn where there are none */
    run: Wire.ProfiledRun;
    profile: Profile;
    /** what they are compared with */
    against: Entry | null;
    reading: Wire.Reading | null;
    /** names of frames that the page shows */
    frames: string[];
    /** whether a rank can be chosen */
    ranked: boolean;
    /** whether the page shows frames of all ranks */
    ofJob: boolean;
    offered: Offered;
    jobBook: Book;
    entries: Entry[];
    /** profiles of the chosen job by rank */
    ranks: Entry[];
    controls: Controls;
    device: HTMLElement;
    /** names of the lines of plots in saved pictures */
    nameOfLine: ((trace: any) => string) | null;
  }

  /** assets/profiles/preparation/page.js */
  interface PreparationPage extends Page {
    /** first and last step */
    inputs: HTMLInputElement[];
    reset: HTMLElement;
  }
}
