import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { NOUNS, VERBS, counted } from "../../../assets/kit/counted.js";

const CASES = JSON.parse(readFileSync(new URL("../../layouts/kit/counted.json", import.meta.url), "utf-8"));
const SOURCE = readFileSync(new URL("../../../layouts/kit/counted.py", import.meta.url), "utf-8");

for (const { text, values, wanted } of CASES) {
  test(`${text} of ${JSON.stringify(values)}`, () => assert.equal(counted(text, values), wanted));
}

test("the words are those of the server", () => {
  const listed = (name, end) => SOURCE.split(`${name} = `)[1].split(end)[0];
  assert.deepEqual([...listed("NOUNS", ")").matchAll(/"(\w+)"/g)].map(([, word]) => word), NOUNS);
  assert.deepEqual([...listed("VERBS", "}").matchAll(/"(\w+)": "(\w+)"/g)].map(([, ...pair]) => pair), Object.entries(VERBS));
});
