// The list of problems: what of the files could not be read, and what that costs. Only ever textContent: all of it comes from files.
(function () {
  "use strict";
  const mindscope = (window.mindscope = window.mindscope || {});
  const dash = (window.dash_clientside = window.dash_clientside || {});
  const functions = (dash.mindscope = dash.mindscope || {});
  const SHOWN = 500;
  const COLUMNS = ["run", "kind", "path", "offset", "length", "text"];
  let listed = { rows: [], total: 0, unverified: 0 };

  function make(tag, name, text) {
    const element = document.createElement(tag);
    if (name) element.className = name;
    if (text !== undefined) element.textContent = text;
    return element;
  }

  function item([run, kind, path, offset, length, text]) {
    const row = make("li", "ms-problem");
    const head = make("div", "ms-problem-head");
    head.append(mindscope.i18n.write(make("span", "ms-badge ms-badge-wrong"), `problem.${kind}`));
    head.append(make("span", "ms-problem-run ms-cut", run));
    const place = { offset: offset.toLocaleString("en"), length: length.toLocaleString("en") };
    head.append(mindscope.i18n.write(make("span", "ms-problem-place"), length > 0 ? "health.place" : "health.at", place));
    row.append(head, make("div", "ms-problem-text", text), make("div", "ms-problem-path ms-mono", path));
    return row;
  }

  functions.health_listed = function (data, hostId) {
    const host = document.getElementById(hostId);
    if (!data || !host) return;
    listed = data;
    const { write } = mindscope.i18n;
    const parts = [];
    const count = (n) => n.toLocaleString("en");
    if (data.total === 0) parts.push(write(make("p", "ms-health-line"), "health.good"));
    else parts.push(write(make("p", "ms-health-line"), data.total === 1 ? "health.problem" : "health.problems", { n: count(data.total) }));
    if (data.unverified) parts.push(write(make("p", "ms-health-line ms-muted"), "health.unverified", { n: count(data.unverified) }));
    const list = make("ul", "ms-problems");
    for (const row of data.rows.slice(0, SHOWN)) list.append(item(row));
    parts.push(list);
    if (data.total > SHOWN) {
      parts.push(write(make("p", "ms-health-line ms-muted"), "health.shown", { n: count(SHOWN), total: count(data.total) }));
    }
    host.replaceChildren(...parts);
  };

  // A text that a spreadsheet would take for a formula is kept a text.
  function cell(value) {
    const text = String(value);
    const safe = typeof value === "string" && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
    return `"${safe.replace(/"/g, '""')}"`;
  }

  function csv() {
    return [COLUMNS, ...listed.rows].map((row) => row.map(cell).join(",")).join("\r\n") + "\r\n";
  }

  function plain() {
    return listed.rows.map(([run, kind, path, offset, length, text]) => `${run}\t${kind}\t${path}\t${offset}\t${length}\t${text}`).join("\n");
  }

  async function copy(button) {
    const label = button.querySelector(".t");
    try {
      await navigator.clipboard.writeText(plain());
    } catch (error) {
      const area = make("textarea", "ms-silent");  // not a secure context: the old way
      area.value = plain();
      button.closest("dialog").append(area);
      area.select();
      document.execCommand("copy");
      area.remove();
    }
    if (!label) return;
    const words = Array.from(label.children, (part) => part.textContent);
    const done = mindscope.i18n.both("health.copied");
    Array.from(label.children, (part, i) => (part.textContent = done[i]));
    window.setTimeout(() => Array.from(label.children, (part, i) => (part.textContent = words[i])), 1200);
  }

  function save() {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([csv()], { type: "text/csv" }));
    link.download = "mindscope-problems.csv";
    link.click();
    window.setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  }

  mindscope.health = { copy, save };
})();
