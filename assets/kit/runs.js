// The list of runs, put together from the changes that the server sends. Counterpart of layouts/shell/run_list.py.

const UNREAD = ["waiting", "loading"];  // layouts/kit/state.py

/**
 * Place of a change of the list: [name of the list, number of the change]; `mark` is "name.number/digest of the notebook".
 * @param {string} mark
 * @returns {[string, number]}
 */
function placeOf(mark) {
  const [name, number] = mark.split("/")[0].split(".");
  return [name, Number(number)];
}

/**
 * @param {Wire.RunRow} a
 * @param {Wire.RunRow} b
 */
function newestFirst(a, b) {
  return b.updated - a.updated || (a.key < b.key ? -1 : a.key > b.key ? 1 : 0);
}

/** @type {(before: Wire.RunRow[], changes: Wire.RunChanges) => Wire.RunRow[]} */
function rowsAfter(before, { rows, gone }) {
  if (!rows.length && !gone.length) return before;
  const changed = new Map(rows.map((row) => [row.key, row]));
  const away = new Set(gone);
  let moved = false;
  /** @type {Wire.RunRow[]} */
  const kept = [];
  for (const row of before) {
    const next = changed.get(row.key);
    changed.delete(row.key);
    if (next) moved = moved || next.updated !== row.updated;
    if (next || !away.has(row.key)) kept.push(next || row);
  }
  kept.push(...changed.values());
  return moved || changed.size ? kept.sort(newestFirst) : kept;
}

/**
 * Members of all rows that have, or may turn out to have, data of a kind that a page shows; of all rows if none has.
 * @param {Wire.RunRow[]} rows
 * @param {string[]} needs
 */
function membersHaving(rows, needs) {
  const having = needs.length
    ? rows.filter((row) => UNREAD.includes(row.state) || needs.some((kind) => row.tags[kind] > 0))
    : rows;
  return (having.length ? having : rows).flatMap((row) => row.members);
}

/**
 * The list after changes; null if they do not follow on the list before, so that all runs must be asked for. needs are the
 * kinds of data that the page shows.
 * @param {RunList | null | undefined} before
 * @param {Wire.RunChanges} changes
 * @param {string[]} needs
 * @returns {RunList | null}
 */
export function merged(before, changes, needs) {
  const { mark, usual, bestBy, groups, also } = changes;
  /** @param {Wire.RunRow[]} rows */
  const rest = (rows) => ({ mark, rows, usual, bestBy, groups, also, default: changes.default || membersHaving(rows, needs) });
  // Whole lists come with their notebook.
  if (changes.whole) return { ...rest(changes.rows), notebook: /** @type {Wire.Notebook} */ (changes.notebook) };
  if (!before) return null;
  const [name, known] = placeOf(before.mark);
  const [sinceName, since] = placeOf(changes.since);
  const [, now] = placeOf(mark);
  if (name !== sinceName || since > known) return null;
  // Of two answers that cross, the older one comes last and says nothing new.
  if (now < known) return before;
  return { ...rest(rowsAfter(before.rows, changes)), notebook: changes.notebook || before.notebook };
}

/** @type {Map<string, RunList>} */
const lists = new Map();  // routes of a source -> its latest list, which the next page with these routes begins with

/** @type {(routes: string) => RunList | null} */
export function listOf(routes) {
  return lists.get(routes) || null;
}

/** @type {(routes: string) => string | null} */
export function markOf(routes) {
  const list = lists.get(routes);
  return list ? list.mark : null;
}

/**
 * @param {string} routes
 * @param {Wire.RunChanges} changes
 * @param {string[]} needs
 */
export function take(routes, changes, needs) {
  const list = merged(lists.get(routes), changes, needs);
  if (list) lists.set(routes, list);
  return list;
}
