// Going to another page of ours. Only the shell owns the address bar; in another application there is nowhere to go.
/** @type {(path: string, changes?: Record<string, string[]>) => void} */
let navigate = () => {};

/** @param {(path: string, changes?: Wire.Query) => void} act */
export function onNavigation(act) {
  navigate = act;
}

/**
 * changes: state to open the page with, in addition to the selected runs.
 * @param {string} path
 * @param {Wire.Query} [changes]
 */
export function go(path, changes) {
  navigate(path, changes);
}
