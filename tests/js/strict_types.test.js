import assert from "node:assert/strict";
import test from "node:test";
import { errorsIn, explicitAny, judged, SLACK } from "./strict_types.js";

const at = (path) => `${path}(3,7): error TS7006: Parameter 'x' implicitly has an 'any' type.`;
const errors = (...paths) => errorsIn(paths.map(at).join("\n"));

test("errors are found by their path in what the compiler prints", () => {
  const line = at("assets/kit/a.js");
  assert.deepEqual(errorsIn(`${line}\n  a line that explains it\n\n`), [["assets/kit/a.js", line]]);
  assert.deepEqual(errorsIn(""), []);
});

test("a strict folder has no error; a folder below it is another one", () => {
  const record = { strict: ["assets/kit"], errors: 1 };
  assert.deepEqual(judged(errors("assets/kit/cards/a.js"), record), { complaints: [], count: 1 });
  assert.deepEqual(judged(errors("assets/kit/a.js", "assets/x/a.js"), record).complaints, [at("assets/kit/a.js")]);
});

test("a page without a type is an error in every folder", () => {
  const line = "assets/x/a.js(3,7): error TS7006: Parameter 'page' implicitly has an 'any' type.";
  const typed = "assets/x/a.js(3,7): error TS2339: Property 'page' does not exist on type 'never'.";
  assert.deepEqual(judged(errorsIn(`${line}\n${typed}\n`), { strict: [], errors: 2 }), { complaints: [line], count: 2 });
});

test("the number of errors may fall, and the record falls with it", () => {
  const many = (count) => errors(...Array.from({ length: count }, () => "assets/x/a.js"));
  const complaints = (count) => judged(many(count), { strict: [], errors: 40 }).complaints;
  assert.deepEqual(complaints(40), []);
  assert.deepEqual(complaints(40 - SLACK), []);
  assert.match(complaints(41).join(), /^41 strict errors outside of strict folders; at most 40/);
  assert.match(complaints(39 - SLACK).join(), /--renew/);
});

test("any is counted in types, not in sentences", () => {
  assert.equal(explicitAny("a.js", "/** @param {any} x any one\n * @param {any[]} y */ // any\n/** any */ const any = 1;"), 2);
  assert.equal(explicitAny("a.js", "/** @type {Record<string, any>} */ (x) /** @type {(...values: any[]) => any} */"), 3);
  assert.equal(explicitAny("a.d.ts", "/** any; */ interface X { a: any; b: Map<string, any>; many: anything }"), 2);
});
