// Draws the figures of a page saved as a file: their data and plotly.js are texts in it (assets/shell/page_file_maker.js).
// A classic script that is put into the file as it is; Mindscope itself never runs it.
(function () {
  "use strict";
  /** @param {string} id */
  const textOf = (id) => (document.getElementById(id) || document.body).textContent || "";

  /** plotly.js as it was before it was packed; the browser runs it because its hash is in the Content-Security-Policy. */
  async function unpacked() {
    const binary = window.atob(textOf("ms-file-plotly"));
    const bytes = new Uint8Array(binary.length);
    for (let i = 0; i < bytes.length; i += 1) bytes[i] = binary.charCodeAt(i);
    const stream = new Blob([bytes]).stream().pipeThrough(new window.DecompressionStream("gzip"));
    return new Response(stream).text();
  }

  async function draw() {
    const script = document.createElement("script");
    script.textContent = await unpacked();
    document.head.append(script);
    for (const { host, data, layout, config } of JSON.parse(textOf("ms-file-figures"))) {
      const place = document.getElementById(host);
      if (place) await window.Plotly.newPlot(place, data, layout, config);
    }
    document.documentElement.setAttribute("data-drawn", "");
  }

  draw().catch((error) => {
    const told = document.getElementById("ms-file-failed");
    if (told) told.hidden = false;
    throw error;
  });
})();
