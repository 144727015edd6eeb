// The one place that decides between "1 step" and "2 steps" in English texts: counterpart of layouts/kit/counted.py. Both pass
// the cases of tests/layouts/kit/counted.json.

export const NOUNS = [
  "allocations", "arrows", "attributes", "blocks", "bytes", "cards", "characters", "checkpoints", "chunks", "collectives",
  "columns", "components", "constants", "curves", "dimensions", "dumps", "edges", "executions", "files", "functions",
  "gaps", "graphs", "groups", "histograms", "hits", "hosts", "images", "inputs", "insights", "intervals", "iterations",
  "kernels", "kinds", "labels", "layers", "lines", "links", "maps", "marks", "messages", "names", "nodes", "notes",
  "operations", "operators", "outliers", "outputs", "packets", "pairs", "parameters", "parts", "points", "problems",
  "profiles", "ranks", "requests", "restarts", "rows", "rules", "runs", "samples", "scalars", "scopes", "sessions",
  "settings", "shapes", "slices", "stacks", "stages", "states", "steps", "streams", "tags", "tensors", "texts", "traces",
  "tracks", "trials", "types", "values", "weights", "workers",
];
/** @type {Record<string, string>} */
export const VERBS = {
  are: "is", were: "was", have: "has", do: "does", begin: "begins", start: "starts", lack: "lacks", stand: "stands", belong:
  "belongs", reserve: "reserves", cannot: "cannot",
};
const COUNTED = new RegExp(`\\{(\\w+)\\} (${NOUNS.join("|")})\\b(?: (${Object.keys(VERBS).join("|")})\\b)?`, "g");
/** Words after which a number is a name: "rank 1 steps" counts nothing. */
const NUMBERED = /\b(?:rank|step|stage|node|layer|iteration|epoch|device|sample|graph)$/i;

/**
 * An English text whose nouns after a number that is 1 are singular; placeholders stay.
 * @param {string} english
 * @param {TextValues} [values]
 */
export function counted(english, values) {
  if (!values || !Object.values(values).some((value) => String(value) === "1")) return english;
  return english.replace(COUNTED, (whole, name, noun, verb, at) => {
    if (String(values[name]) !== "1" || NUMBERED.test(english.slice(0, at).trimEnd())) return whole;
    return `{${name}} ${noun.slice(0, -1)}${verb ? ` ${VERBS[verb]}` : ""}`;
  });
}
