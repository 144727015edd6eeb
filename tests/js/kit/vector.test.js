// The drawing context that writes SVG: shapes, texts and groups as XML.

import assert from "node:assert/strict";
import test from "node:test";

import { escaped, plainColour, Vector } from "../../../assets/kit/vector.js";

const measure = (text) => 6 * text.length;

test("texts are text, whatever is in them", () => {
  assert.equal(escaped('<b>"a" & b</b>'), "&lt;b&gt;&quot;a&quot; &amp; b&lt;/b&gt;");
  assert.equal(escaped("a\u0000b\u001fc\ud800d\n"), "a\ufffdb\ufffdc\ufffdd\n");
});

test("colours are those that every program knows", () => {
  assert.deepEqual(plainColour("#14181d"), ["#14181d", 1]);
  assert.deepEqual(plainColour("rgba(255, 0, 16, 0.5)"), ["#ff0010", 0.5]);
  assert.deepEqual(plainColour("hsl(0 100% 50%)"), ["#ff0000", 1]);
  assert.deepEqual(plainColour("hsl(120 100% 25%)"), ["#008000", 1]);
});

test("shapes, texts and groups", () => {
  const drawing = new Vector(measure);
  drawing.fillStyle = "hsl(0 100% 50%)";
  drawing.fillRect(1, 2, 3.14159, 4);
  drawing.fillRect(1, 2, 0, 4);
  drawing.save();
  drawing.translate(10, 20);
  drawing.beginPath();
  drawing.rect(0, 0, 5, 5);
  drawing.clip();
  drawing.globalAlpha = 0.5;
  drawing.fillStyle = "#000";
  drawing.textBaseline = "middle";
  drawing.textAlign = "center";
  drawing.fillText("a<b", 4, 8);
  drawing.restore();
  drawing.beginPath();
  drawing.moveTo(0, 0);
  drawing.bezierCurveTo(1, 2, 3, 4, 5, 6);
  drawing.stroke();
  assert.equal(drawing.measureText("four").width, 24);
  assert.deepEqual(drawing.parts, [
    '<rect x="1" y="2" width="3.14" height="4" fill="#ff0000"/>',
    '<g transform="translate(10 20)">',
    '<clipPath id="clip1"><path d="M0 0h5v5h-5Z"/></clipPath><g clip-path="url(#clip1)">',
    '<text x="4" y="11.85" text-anchor="middle" font-size="11" fill="#000" fill-opacity="0.5">a&lt;b</text>',
    "</g></g>",
    '<path d="M0 0C1 2 3 4 5 6" fill="none" stroke="#000" stroke-width="1"/>',
  ]);
  assert.equal(drawing.globalAlpha, 1);
  assert.match(drawing.text(100, 50, 'A, "B"'), /^<svg xmlns="http:\/\/www.w3.org\/2000\/svg" width="100" height="50" /);
});

test("circles, dashes, turned parts, and texts with weight and outline", () => {
  const drawing = new Vector(measure);
  drawing.beginPath();
  drawing.arc(10, 20, 2.5, 0, 2 * Math.PI);
  drawing.fill();
  drawing.setLineDash([4, 3]);
  drawing.strokeRect(0, 0, 5, 6);
  drawing.setLineDash([]);
  drawing.save();
  drawing.rotate(-Math.PI / 2);
  drawing.font = "500 12px 'A', serif";
  drawing.strokeStyle = "#fff";
  drawing.lineWidth = 3;
  drawing.strokeText("</text><script>", 1, 2);
  drawing.fillText("</text><script>", 1, 2);
  drawing.fillText("next", 1, 2);
  drawing.restore();
  assert.deepEqual(drawing.parts, [
    '<path d="M7.5 20a2.5 2.5 0 1 0 5 0a2.5 2.5 0 1 0 -5 0Z" fill="#000"/>',
    '<rect x="0" y="0" width="5" height="6" fill="none" stroke="#000" stroke-width="1" stroke-dasharray="4 3"/>',
    '<g transform="rotate(-90)">',
    '<text x="1" y="2" font-size="12" font-weight="500" fill="#000" paint-order="stroke" stroke-linejoin="round" '
    + 'stroke="#fff" stroke-width="3">&lt;/text&gt;&lt;script&gt;</text>',
    '<text x="1" y="2" font-size="12" font-weight="500" fill="#000">next</text>',
    "</g>",
  ]);
});
