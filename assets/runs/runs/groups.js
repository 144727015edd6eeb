// Rows grouped by settings, one within the other: a row of the grid above the runs of each group.

/**
 * Whether a row is the head of a group.
 * @param {RunTable.Row | RunTable.GroupRow} row
 * @returns {row is RunTable.GroupRow}
 */
export const isGroup = (row) => Boolean(row.group);

/**
 * Missing values come last, numbers before texts.
 * @param {RunTable.Value} a
 * @param {RunTable.Value} b
 */
function inOrder(a, b) {
  /** @param {RunTable.Value} value */
  const rank = (value) => (value === null ? 2 : typeof value === "string" ? 1 : 0);
  if (rank(a) !== rank(b)) return rank(a) - rank(b);
  if (typeof a === "string" && typeof b === "string") return a.localeCompare(b, undefined, { numeric: true });
  return a === null || b === null || a === b ? 0 : a < b || Number.isNaN(b) ? -1 : 1;
}

export class Groups {
  constructor() {
    /**
     * Keys of groups whose runs are hidden.
     * @type {Set<string>}
     */
    this.closed = new Set();
    /**
     * Columns that group, the outermost first.
     * @type {string[]}
     */
    this.levels = [];
    /**
     * Groups in the order of the table.
     * @type {RunTable.Group[]}
     */
    this.order = [];
    /**
     * Keys of the groups of a run, the outermost first.
     * @type {Map<string, string[]>}
     */
    this.paths = new Map();
  }

  /**
   * Set the columns that group; whether they are others than before.
   * @param {string[]} levels
   */
  take(levels) {
    const same = JSON.stringify(levels) === JSON.stringify(this.levels);
    this.levels = levels;
    return !same;
  }

  /**
   * The rows of the groups of some runs; valueOf(column, key of a run) are the values that group them, toldOf(runs) is what the
   * row of a group says of its runs.
   * @param {RunTable.Row[]} runs
   * @param {(column: string, key: string) => RunTable.Value} valueOf
   * @param {string} gridId
   * @param {(runs: RunTable.Row[]) => { numbers: RunTable.GroupNumber[], diverged: number }} toldOf
   */
  rows(runs, valueOf, gridId, toldOf = () => ({ numbers: [], diverged: 0 })) {
    this.paths = new Map();
    /** @type {{ children: Map<string, RunTable.Group> }} */
    const root = { children: new Map() };
    for (const run of this.levels.length ? runs : []) {
      let node = root;
      const path = [];
      for (const column of this.levels) {
        const value = valueOf(column, run.key);
        path.push(value);
        const key = `group:${JSON.stringify(path.map((one) => (typeof one === "number" ? `#${one}` : one)))}`;
        const depth = path.length;
        /** @type {RunTable.Group} */
        const group = node.children.get(key) || { children: new Map(), value, column, key, runs: [], depth };
        node.children.set(key, group);
        node = group;
        group.runs.push(run);
        this.paths.set(run.key, [...(this.paths.get(run.key) || []), key]);
      }
    }
    this.order = [];
    this.walk(root);
    const rest = { grid: gridId, members: [], tags: {}, name: "", real: "", updated: 0 };
    return this.order.map(({ key, value, column, runs: own, depth }) => (
      { key, group: { value, column, count: own.length, depth, ...toldOf(own) }, ...rest }
    ));
  }

  /** @param {{ children: Map<string, RunTable.Group> }} node */
  walk(node) {
    for (const child of Array.from(node.children.values()).sort((a, b) => inOrder(a.value, b.value))) {
      this.order.push(child);
      this.walk(child);
    }
  }

  /**
   * Put rows in their groups, in place; within a group they stay in the order of the table.
   * @param {RunTable.RowNode[]} nodes
   */
  arrange(nodes) {
    if (!this.levels.length) return;
    /** @type {Map<string, RunTable.RowNode>} */
    const heads = new Map();
    /** @type {Map<string, RunTable.RowNode[]>} */
    const runs = new Map();
    for (const node of nodes) {
      if (node.data.group) heads.set(node.data.key, node);
      else {
        const path = this.paths.get(node.data.key) || [""];
        const last = path[path.length - 1];
        runs.set(last, [...(runs.get(last) || []), node]);
      }
    }
    let at = 0;
    for (const { key } of this.order) {
      const head = heads.get(key);
      if (head) nodes[at++] = head;
      for (const node of runs.get(key) || []) nodes[at++] = node;
    }
    for (const node of runs.get("") || []) nodes[at++] = node;
  }

  /**
   * Keys of the groups that have one of these runs.
   * @param {RunTable.Row[]} rows
   */
  having(rows) {
    return new Set(this.levels.length ? rows.flatMap((row) => this.paths.get(row.key) || []) : []);
  }

  /** @param {string} key */
  toggle(key) {
    if (!this.closed.delete(key)) this.closed.add(key);
  }

  /**
   * Whether a run is in a closed group.
   * @param {RunTable.Row} row
   */
  hides(row) {
    return this.closed.size > 0 && (this.paths.get(row.key) || []).some((key) => this.closed.has(key));
  }

  /**
   * Whether the row of a group is shown: the groups around it are open.
   * @param {RunTable.GroupRow} row
   */
  shows(row) {
    return this.closed.size === 0 || !this.around(row.key).some((key) => this.closed.has(key));
  }

  /** @param {string} key */
  around(key) {
    /** @type {RunTable.Group[]} */
    const found = [];
    for (const group of this.order) {
      if (group.key === key) break;
      while (found.length && found[found.length - 1].depth >= group.depth) found.pop();
      found.push(group);
    }
    const { depth } = this.order.find((group) => group.key === key) || { depth: 0 };
    return found.filter((group) => group.depth < depth).map((group) => group.key);
  }
}
