// Going to another page of ours. Only the shell owns the address bar; in another application there is nowhere to go.
/** @type {(path: string, changes?: Record<string, string[]>) => void} */
let navigate = () => {};

export function onNavigation(act) {
  navigate = act;
}

// changes: state to open the page with, in addition to the selected runs.
export function go(path, changes) {
  navigate(path, changes);
}
