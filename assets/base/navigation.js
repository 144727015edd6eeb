// How code of a page goes to another page. Only the shell owns an address bar; in somebody else's layout there is nowhere to go.
/** @type {(path: string, changes?: Record<string, string[]>) => void} */
let navigate = () => {};

export function onNavigation(act) {
  navigate = act;
}

// changes: entries of the state that the page opens with, beside the runs on screen.
export function go(path, changes) {
  navigate(path, changes);
}
