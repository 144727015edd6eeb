// The page of tuning: its record. What the server sends for it is in generated.d.ts.

declare namespace Tuning {
  type Answer<Sent> = Sent & Omit<PartAnswer, "state">;

  /** A key of the state that the server gets, too. */
  type Key = Exclude<keyof Asked.StudyRequest, "lang" | "theme">;

  interface Page extends PageOfParts {
    version: number;
    /** the study on screen */
    shown: ReadyStudy | null;
    studies: HTMLSelectElement;
    targets: HTMLSelectElement;
    /** the two settings of slice and contour */
    settings: HTMLSelectElement[];
    sort: HTMLElement;
    show: HTMLSelectElement;
    by: HTMLSelectElement;
    csv: HTMLAnchorElement;
    /** lines over settings and target, once there is a figure, which has them */
    lines: ReturnType<typeof import("../lineage/parallel.js").parallelPlot>;
    parallel: Lineage.Figure | null;
  }
}
