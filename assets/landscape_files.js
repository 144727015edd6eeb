// What the landscape page saves: the plot as PNG or SVG, the landscapes in it as CSV in full precision.
(function () {
  "use strict";
  const mindscope = window.mindscope;
  const { make } = mindscope.cards;
  const HEADER = ["run", "tag", "kind", "unit", "at", "x", "y", "loss"];

  function save(url, name) {
    make("a", "", [], { href: url, download: name }).click();
  }

  function fileName(page, suffix) {
    const names = page.figure.layout.meta.sheets.map((sheet) => `${sheet.label}_${sheet.tag}`).join("_");
    const safe = names.replace(/[^\p{L}\p{N}.-]+/gu, "_").replace(/^[._]+|_+$/g, "").slice(0, 80);
    return `${safe || "landscape"}.${suffix}`;
  }

  // On the page css colours the plot; a file needs the colours in it.
  async function image(page, format) {
    const plot = page.plot();
    if (!plot || !page.figure) return;
    const style = getComputedStyle(plot);
    const colour = (name) => style.getPropertyValue(name).trim();
    const layout = structuredClone(plot.layout);
    Object.assign(layout, {
      paper_bgcolor: colour("--ms-card"), plot_bgcolor: colour("--ms-card"), autosize: false,
      font: { size: 11, color: colour("--ms-text"), family: style.fontFamily },
    });
    const { clientWidth: width, clientHeight: height } = plot;
    const figure = { data: plot.data, layout };
    save(await window.Plotly.toImage(figure, { format, width, height, scale: format === "png" ? 2 : 1 }), fileName(page, format));
  }

  // A text that a spreadsheet would take for a formula is defused.
  function cell(value) {
    if (typeof value === "number" && Number.isFinite(value)) return String(value);
    const text = String(value);
    const safe = /^[=+\-@\t\r]/.test(text) && !/^[+-]?Inf$/.test(text) ? `'${text}` : text;
    return /[",\r\n]/.test(safe) ? `"${safe.replace(/"/g, '""')}"` : safe;
  }

  function plain(value) {
    const number = Number(value);
    return Number.isNaN(number) ? "NaN" : Number.isFinite(number) ? number : number > 0 ? "+Inf" : "-Inf";
  }

  function rows(sheet, ground) {
    const name = [sheet.run, sheet.tag];
    const result = [];
    ground.y.forEach((y, row) => ground.x.forEach((x, column) => {
      result.push([...name, "landscape", "", "", plain(x), plain(y), plain(ground.z[row][column])]);
    }));
    for (const point of sheet.path) result.push([...name, "path", sheet.unit, ...point]);
    if (sheet.convergence) result.push([...name, "convergence", "", "", ...sheet.convergence]);
    return result;
  }

  function csv(page) {
    const plot = page.plot();
    if (!plot || !page.figure) return;
    const grounds = plot._fullData.filter((trace) => trace.meta && trace.meta.role === "ground");
    const { sheets } = page.figure.layout.meta;
    const table = [HEADER, ...grounds.flatMap((ground) => rows(sheets[ground.meta.sheet], ground))];
    const text = table.map((row) => row.map(cell).join(",")).join("\r\n");
    const url = URL.createObjectURL(new Blob([`${text}\r\n`], { type: "text/csv" }));
    save(url, fileName(page, "csv"));
    window.setTimeout(() => URL.revokeObjectURL(url), 10000);
  }

  mindscope.landscape.files = { image, csv };
})();
