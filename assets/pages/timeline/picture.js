// The timeline as a picture.

import { make } from "../../base/elements.js";

/** Save what is on screen, with axis and names of tracks, as PNG. */
export function savePicture(page) {
  const { host, line } = page;
  const { ratio } = line;
  const style = getComputedStyle(host.root);
  const [top, side] = [host.ruler.height, Math.round(host.labels.clientWidth * ratio)];
  const canvas = document.createElement("canvas");
  canvas.width = side + host.canvas.width;
  canvas.height = top + host.canvas.height;
  const context = canvas.getContext("2d");
  context.fillStyle = style.getPropertyValue("--ms-card");
  context.fillRect(0, 0, canvas.width, canvas.height);
  for (const each of [host.canvas, host.overlay]) context.drawImage(each, side, top);
  context.drawImage(host.ruler, side, 0);
  context.scale(ratio, ratio);
  context.fillStyle = style.getPropertyValue("--ms-text");
  context.font = `12px ${style.fontFamily}`;
  context.textBaseline = "middle";
  const box = host.canvas.getBoundingClientRect();
  context.beginPath();
  context.rect(0, top / ratio, side / ratio - 4, host.canvas.height / ratio);
  context.clip();
  for (const label of host.view.querySelectorAll(".ms-timeline-name")) {
    const place = label.getBoundingClientRect();
    if (place.bottom < box.top || place.top > box.bottom) continue;
    const y = place.top - box.top + top / ratio + place.height / 2;
    context.fillText(label.textContent, place.left - box.left + side / ratio, y);
  }
  canvas.toBlob((blob) => {
    const link = make("a", "", [], { href: URL.createObjectURL(blob), download: "timeline.png" });
    link.click();
    window.setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  });
}
