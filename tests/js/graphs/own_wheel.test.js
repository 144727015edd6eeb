import "../page.js";
import assert from "node:assert/strict";
import test from "node:test";
import { watchFor } from "../../../assets/graphs/own_wheel.js";

const library = () => ({ Cytoscape: { defaultProps: { wheelSensitivity: 1, minZoom: 0.1 } } });

test("no sensitivity of the wheel is handed to Cytoscape, whether its bundle comes before or after", () => {
  const before = { dash_cytoscape: library() };
  watchFor(before);
  assert.deepEqual(before.dash_cytoscape.Cytoscape.defaultProps, { minZoom: 0.1 });

  const after = {};
  watchFor(after);
  assert.equal(after.dash_cytoscape, undefined);
  const made = library();
  after.dash_cytoscape = made;
  assert.equal(after.dash_cytoscape, made);
  assert.deepEqual(made.Cytoscape.defaultProps, { minZoom: 0.1 });
});
