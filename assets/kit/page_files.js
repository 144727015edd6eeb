// What a page needs beyond what every page does: its components, scripts and styles, loaded when they are first wanted.

/** @type {Map<string, Promise<unknown>>} */
const files = new Map();

/**
 * @param {"script" | "link"} tag
 * @param {{ src?: string, href?: string, rel?: string, async?: boolean }} properties
 */
function elementLoaded(tag, properties) {
  return new Promise((resolve, reject) => {
    const element = Object.assign(document.createElement(tag), properties);
    element.onload = resolve;
    element.onerror = () => {
      element.remove();
      reject(new Error(`cannot load ${properties.href || properties.src}`));
    };
    document.head.append(element);
  });
}

/** @type {Record<string, (url: string) => Promise<unknown>>} */
const loaders = {
  scripts: (url) => elementLoaded("script", { src: url, async: false }),
  styles: (url) => elementLoaded("link", { rel: "stylesheet", href: url }),
  modules: (url) => import(url),
};

/**
 * Load a file once; a failed attempt is repeated the next time.
 * @param {string} kind
 * @param {string} url
 * @returns {Promise<unknown>}
 */
function load(kind, url) {
  const known = files.get(url);
  if (known) return known;
  const there = kind === "styles" && document.querySelector(`link[rel="stylesheet"][href="${CSS.escape(url)}"]`);
  const loading = there ? Promise.resolve() : loaders[kind](url);
  files.set(url, loading);
  loading.catch(() => files.delete(url));
  return loading;
}

/**
 * Resolve once the scripts and styles of a page are there.
 * @param {string} path
 */
export function loaded(path) {
  const meta = document.querySelector('meta[name="mindscope-pages"]');
  /** @type {Partial<Wire.Needed>} */
  const needed = (meta && JSON.parse(meta.content)[path]) || {};
  return Promise.all(Object.entries(needed).flatMap(([kind, urls]) => urls.map((url) => load(kind, url))));
}

/**
 * Whether a page loads this file itself, and says so if that fails.
 * @param {string} url
 */
export const isLoading = (url) => files.has(url);

/** Resolve once plotly.js is there, which Dash loads for its own first chart. */
export async function chartsLoaded() {
  if (!window.Plotly) await load("scripts", window._dashPlotlyJSURL);
}

/**
 * Resolve once plotly.js can draw surfaces too, for a page whose own plots Dash has begun to draw. Our application begins with
 * plotly.js for two dimensions; what Dash draws from then on, it draws with the whole. Other applications have that already.
 */
export async function surfacesLoaded() {
  const meta = document.querySelector('meta[name="mindscope-surfaces"]');
  if (meta) await load("scripts", meta.content);
}

/** @type {Map<string, Promise<DashComponent>>} */
const contents = new Map();  // address -> the promise of its components

/**
 * The components of a page.
 * @param {string} url
 * @returns {Promise<DashComponent>}
 */
export function contentAt(url) {
  const known = contents.get(url);
  if (known) return known;
  const answer = window.fetch(url, { credentials: "same-origin" }).then((response) => {
    if (!response.ok) throw new Error(`cannot load ${response.url}: ${response.status}`);
    return response.json();
  });
  contents.set(url, answer);
  answer.catch(() => contents.delete(url));
  return answer;
}
