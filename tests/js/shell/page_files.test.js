// What goes into a page saved as a file: texts that stay texts, figures as JSON, and a policy without a network.
import "../page.js";
import assert from "node:assert/strict";
import test from "node:test";
import { chartsFor, plain, savedFigure } from "../../../assets/shell/page_figures.js";
import {
  firstNames, policy, scriptJson, sheetText, styledAttributes, withoutMenu, withoutTurns,
} from "../../../assets/shell/page_text.js";

const { isKept } = await import("../../../assets/shell/page_copy.js");
const { boardSheet } = await import("../../../assets/shell/page_boards.js");
const { largest } = await import("../../../assets/shell/page_file_maker.js");

test("no text in JSON ends its script element, and it is read back as it was", () => {
  const evil = ["</script><script>", "<!--", "\u2028\u2029", "\\u003c/script>", "\ud800", '"'];
  const text = scriptJson(evil);
  assert.ok(!/[<\u2028\u2029]/.test(text));
  assert.deepEqual(JSON.parse(text), evil);
});

test("no text in a style sheet ends its element", () => {
  assert.ok(!sheetText('a::before { content: "</style><script>" }').includes("</"));
  assert.ok(!sheetText("a { --x: '<!--' }").includes("<!"));
  assert.equal(sheetText(".a > .b {}\n/*# sourceMappingURL=data:x;base64,AAA= */"), ".a > .b {}\n");
});

test("the policy lets nothing be asked of a network, and no script run without a hash", () => {
  const rules = new Map(policy(["'sha256-a'", "'sha256-b'"]).split("; ").map((rule) => [rule.split(" ")[0], rule]));
  assert.equal(rules.get("default-src"), "default-src 'none'");
  assert.equal(rules.get("script-src"), "script-src 'sha256-a' 'sha256-b'");
  assert.equal(rules.get("img-src"), "img-src data:");
  assert.ok(!policy([]).includes("script-src"));
  assert.ok(!/eval|https?:|\*/.test(policy(["'sha256-a'"])));
});

test("what style sheets say of the window of a card holds for its element, and for no other", () => {
  const own = new Map([["a.css", ".ms-a { height: calc(100vh - 2.5vw) } .x1vh {}"]]);
  const cards = new Map([
    ["a.css", ".ms-a {}"],
    ["b.css", "html[data-led] .b {}\n@media (min-height: 400px) { html[data-led] .c {} }\n@media (min-width: 9px) { .d {} }"],
    ["c.css", "html[data-alone] .e {} html[data-part] .f {}"],
  ]);
  assert.equal(boardSheet(own, cards), [
    ":is(html[data-led], .ms-file-led) .b {}",
    "@container (min-height: 400px) { :is(html[data-led], .ms-file-led) .c {} }",
    "@media (min-width: 9px) { .d {} }",
    ":is(html[data-alone], .ms-file-led) .e {} :is(html[data-part], .ms-file-part) .f {}",
    ".ms-a { height: calc(calc(100 * var(--ms-vh, 1vh)) - calc(2.5 * var(--ms-vw, 1vw))) } .x1vh {}",
  ].join("\n"));
});

test("what style sheets say of narrow windows holds in narrow cards, too", () => {
  const narrow = "(max-width: 600px) { .a::after { content: \"}\" } /* } */ .b { color: red } }";
  const own = new Map([["a.css", `.a {}\n@media ${narrow}\n.c {}\n@media (hover: none) { .d {} }`]]);
  assert.equal(boardSheet(own, new Map()), [
    ".a {}", `@media ${narrow}`, `@container ms-file-led ${narrow}`, ".c {}", "@media (hover: none) { .d {} }",
  ].join("\n"));
});

test("attributes that act, load or lead elsewhere are not kept", () => {
  const styled = styledAttributes(".a[data-state=on] {} .b::after { content: attr(data-n) } .c[hidden] {}");
  assert.deepEqual([...styled], ["data-state", "data-n"]);
  const dropped = [
    ["onclick", "x"], ["ONERROR", "x"], ["href", "javascript:x"], ["href", "https://a.example"], ["href", "#"],
    ["xlink:href", "//a"], ["src", "x"], ["srcdoc", "x"],
    ["formaction", "x"], ["style", "background: url(https://a.example/x)"], ["style", "background:URL( '/x')"],
    ["data-texts", "{}"], ["contenteditable", ""], ["data-zh-title", "x"], ["fill", "url(http://a.example/#x)"],
  ];
  for (const [name, value] of dropped) assert.equal(isKept(name, value, styled), false, `${name}=${value}`);
  const kept = [
    ["class", "x"], ["href", "#part"], ["clip-path", "url(#clip1)"], ["clip-path", "url('#clip1')"], ["data-state", "on"],
    ["style", "background: url(data:image/png;base64,AA)"], ["aria-label", "url(x)"], ["title", "url(x)"], ["colspan", "2"],
  ];
  for (const [name, value] of kept) assert.equal(isKept(name, value, styled), true, `${name}=${value}`);
});

test("numbers go as plotly reads them packed, and what plotly notes for itself stays out", () => {
  const n = { dtype: "f4", bdata: "AA==", _x: 1 };
  const packed = plain({ y: new Float32Array([1, 2]), _inputArray: [1], text: ["<b>"], n });
  assert.deepEqual(packed, { y: { dtype: "f4", bdata: "AACAPwAAAEA=" }, text: ["<b>"], n: { dtype: "f4", bdata: "AA==" } });
  const bytes = Buffer.from(plain(new Float64Array(20000).fill(0.5)).bdata, "base64");
  assert.equal(new Float64Array(bytes.buffer, bytes.byteOffset, 20000)[19999], 0.5);
});

test("a line of a run says its name when it is pointed at, as text", () => {
  const trace = { type: "scatter", y: [1], hoverinfo: "skip", meta: { label: "<b>run</b>" } };
  const layout = { width: 9, height: 9, meta: {} };
  const figure = savedFigure("here", { data: [trace, { y: [2], hoverinfo: "skip" }], layout });
  assert.equal(figure.data[0].name, "&lt;b&gt;run&lt;/b&gt;");
  assert.equal(figure.data[0].hoverinfo, "x+y+name");
  assert.equal(figure.data[1].hoverinfo, "skip");
  assert.deepEqual(figure.layout, { autosize: true, hovermode: "closest", dragmode: "zoom" });
});

test("as much of plotly.js as the figures need", () => {
  assert.equal(chartsFor([{ type: "bar" }, {}]), "flat");
  assert.equal(chartsFor([{ type: "surface" }, { type: "scatter" }]), "all");
  assert.equal(chartsFor([{ type: "parcats" }]), null);
});

test("what takes most of a file is named by its card, the largest first", () => {
  const parts = ["a", "b", "a", "c", "d"].map((name, at) => ({ key: "page_file.images", name, bytes: at + 1 }));
  assert.deepEqual(largest(parts).map(({ name, bytes }) => [name, bytes]), [["d", 5], ["a", 4], ["c", 4]]);
});

test("names in the header do not turn the text around them", () => {
  assert.equal(withoutTurns("\u202eloss\u2066"), "\ufffdloss\ufffd");
  assert.deepEqual(firstNames(["a", "b", "c"], 2), { names: "a, b", n: 1 });
});

test("rules for windows with a menu hold for what is left of them beside it, but not those for phones", () => {
  const css = "@media (max-width: 1240px) { .a { width: 600px } } @media (min-width: 900px) and (max-width: 1000px) {}";
  const wanted = "@media (max-width: 1040px) { .a { width: 600px } } @media (min-width: 700px) and (max-width: 800px) {}";
  assert.equal(withoutMenu(css, 200), wanted);
  assert.equal(withoutMenu(css, 0), css);
  for (const other of ["@media (max-width: 600px) {}", "@media print {}", "@container a (max-width: 900px) {}"]) {
    assert.equal(withoutMenu(other, 200), other);
  }
});
