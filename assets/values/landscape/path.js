// Play the training path over a landscape, at constant speed.

import { setLabel } from "../../kit/i18n.js";

const PLAY_MS = 3000;
const FRAMES = 80;
const MOVING = ["halo", "path", "end"];

function axes(trace) {
  return trace.type === "scatter3d" ? ["x", "y", "z"] : ["x", "y"];
}

// Traces that move, with all points; plotly keeps decoded arrays in _fullData only.
function tracks(plot) {
  return plot._fullData.filter((trace) => MOVING.includes(trace.meta && trace.meta.role)).map((trace) => ({
    index: trace.index, role: trace.meta.role, sheet: trace.meta.sheet,
    points: Object.fromEntries(axes(trace).map((axis) => [axis, Array.from(trace[axis], Number)])),
  }));
}

// Distance along the path to each point, with axes scaled to their extent.
function distances(points) {
  const lists = Object.values(points);
  const extents = lists.map((list) => Math.max(...list) - Math.min(...list) || 1);
  const along = [0];
  for (let at = 1; at < lists[0].length; at += 1) {
    const steps = lists.map((list, axis) => (list[at] - list[at - 1]) / extents[axis]);
    along.push(along[at - 1] + Math.hypot(...steps));
  }
  return along;
}

/**
 * Points passed after a part of the distance; the last is interpolated.
 * @param {number} part
 */
function passed(points, along, part) {
  const goal = along[along.length - 1] * part;
  let next = along.findIndex((distance) => distance >= goal);
  if (next <= 0) next = Math.min(1, along.length - 1);
  const span = along[next] - along[next - 1] || 1;
  const share = Math.min(1, Math.max(0, (goal - along[next - 1]) / span));
  return Object.fromEntries(Object.entries(points).map(([axis, list]) => {
    const head = list[next - 1] + (list[next] - list[next - 1]) * share;
    return [axis, [...list.slice(0, next), head]];
  }));
}

/** @param {number} part */
function show(plot, moving, part) {
  const changes = {};
  for (const track of moving) {
    const path = moving.find((other) => other.role === "path" && other.sheet === track.sheet);
    const now = part >= 1 ? track.points : passed(track.role === "end" ? path.points : track.points, path.along, part);
    for (const [axis, list] of Object.entries(now)) {
      (changes[axis] = changes[axis] || []).push(track.role === "end" && part < 1 ? list.slice(-1) : list);
    }
  }
  return window.Plotly.restyle(plot, changes, moving.map((track) => track.index));
}

/**
 * @param {Landscape.Page} page
 * @param {boolean} playing
 */
function button(page, playing) {
  const element = page.find('[data-act="play"]');
  element.firstElementChild.className = `ms-icon ms-icon-${playing ? "stop" : "play"}`;
  for (const name of ["title", "aria-label"]) setLabel(element, name, playing ? "landscape.stop" : "landscape.play");
  page.root.classList.toggle("ms-landscape-playing", playing);
}

/** @param {Landscape.Page} page */
export function forget(page) {
  page.playing += 1;
  page.moving = null;
  button(page, false);
}

/** @param {Landscape.Page} page */
async function finish(page) {
  const { moving } = page;
  const plot = page.plot();
  forget(page);
  if (moving && plot && moving.plot === plot) await show(plot, moving.tracks, 1);
}

/** @param {Landscape.Page} page */
async function play(page) {
  const plot = page.plot();
  /** @type {Landscape.Track[]} */
  const moving = plot ? tracks(plot) : [];
  for (const track of moving) if (track.role === "path") track.along = distances(track.points);
  if (!moving.some((track) => track.role === "path" && track.along.length > 1)) return;
  page.moving = { plot, tracks: moving };
  page.playing += 1;
  const turn = page.playing;
  button(page, true);
  const begun = performance.now();
  let frame = -1;
  while (page.playing === turn && plot.isConnected) {
    const now = Math.floor(((performance.now() - begun) / PLAY_MS) * FRAMES);
    if (now >= FRAMES) {
      await finish(page);
      return;
    }
    if (now !== frame) await show(plot, moving, (frame = now) / FRAMES);
    await new Promise(window.requestAnimationFrame);
  }
}

/** @param {Landscape.Page} page */
export function toggle(page) {
  if (page.moving) finish(page);
  else play(page);
}

/**
 * Restore zoom or camera of the figure.
 * @param {Landscape.Page} page
 */
export async function restore(page) {
  const plot = page.plot();
  if (!plot || !page.figure) return;
  const changes = {};
  for (const name of Object.keys(page.figure.layout)) {
    if (/^[xy]axis\d*$/.test(name)) changes[`${name}.autorange`] = true;
    if (/^scene\d*$/.test(name)) {
      changes[`${name}.camera`] = structuredClone(page.camera);
    }
  }
  await window.Plotly.relayout(plot, changes);
}
