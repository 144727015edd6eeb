import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import test from "node:test";
import { fileURLToPath } from "node:url";

const ASSETS = fileURLToPath(new URL("../../assets", import.meta.url));
const IMPORT = /(?:^(?:import|export)\b[^;"'()=]*?\s*|\bimport\s*\(\s*|@import\s[^"]*?\bfrom\s+)"(\.[^"]+)"/gm;

/** What a module imports: at once, later, and for its types. */
const imported = (name, text) => [...text.matchAll(IMPORT)].map(([, target]) => normalize(join(dirname(name), target)));

/** The modules of one circle of imports, the first one at both ends; empty if there is none. */
function circle(graph) {
  const done = new Set();
  const follow = (name, way) => {
    if (way.includes(name)) return [...way.slice(way.indexOf(name)), name];
    if (done.has(name)) return [];
    done.add(name);
    for (const next of graph.get(name) || []) {
      const found = follow(next, [...way, name]);
      if (found.length) return found;
    }
    return [];
  };
  for (const name of graph.keys()) {
    const found = follow(name, []);
    if (found.length) return found;
  }
  return [];
}

test("imports of every kind are found", () => {
  const text = 'import "./a.js";\nimport {\n  b,\n} from "./b.js";\nexport * from "../c.js";\n'
    + 'const d = await import("./d.js");\n'
    + '/** @import { E } from "./e.js" */\n/** @param {import("./f.js").F} f */\n// from "./g.js"\n';
  assert.deepEqual(imported("x/y.js", text), ["x/a.js", "x/b.js", "c.js", "x/d.js", "x/e.js", "x/f.js"]);
});

test("a circle is found", () => {
  assert.deepEqual(circle(new Map([["a", ["b"]], ["b", ["c"]], ["c", ["b"]]])), ["b", "c", "b"]);
  assert.deepEqual(circle(new Map([["a", ["b", "c"]], ["b", ["c"]], ["c", []]])), []);
});

test("scripts do not import each other in a circle, not even later or for types", () => {
  const names = readdirSync(ASSETS, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".js") && !name.startsWith("vendor"));
  const graph = new Map(names.map((name) => [name, imported(name, readFileSync(join(ASSETS, name), "utf8"))]));
  assert.deepEqual([...graph.values()].flat().filter((name) => !existsSync(join(ASSETS, name))), []);
  assert.ok([...graph.values()].flat().length > names.length);
  assert.deepEqual(circle(graph), []);
});
