// The profile overview: tiles that link to the other pages about the profile. Counterpart of layouts/profiles/profile_overview.

import { functionsOf, noUpdate } from "../../kit/dash.js";
import { icon, make, words } from "../../kit/elements.js";
import * as efficiency from "../efficiency.js";
import * as plots from "../plots.js";
import * as profiling from "../profiles.js";

/**
 * A tile of the page: layouts/profiles/profile_overview/page.py. frames are the names of those that it needs one of.
 * @typedef {{ page: string, title: string, text: string, frames: string }} OverviewTile
 */

/** @param {Profiles.Page} page */
function build(page) {
  plots.furnish(page);
  plots.watch(page);
  efficiency.build(page);
}

/** @param {Profiles.Page} page */
function link(page) {
  const { run, profile } = page;
  return new URLSearchParams({ of: run.key, session: profile.session, rank: String(profile.rank) }).toString();
}

/**
 * @param {Profiles.Page} page
 * @param {OverviewTile} tile
 */
function tileOf(page, tile) {
  const needs = tile.frames.split(" ").filter(Boolean);
  const there = !needs.length || needs.some((name) => page.profile.frames.includes(name));
  const head = make("header", "ms-card-head", [icon(tile.page), words(tile.title, {}, "h3", "ms-card-title")]);
  const text = words(there ? tile.text : "profile_overview.not_there", {}, "p", "ms-muted ms-profile-overview-text");
  if (!there) return make("div", "ms-card ms-profile-overview-tile ms-profile-overview-absent", [head, text]);
  const query = link(page);
  return make("a", "ms-card ms-profile-overview-tile", [head, text], {
    href: `${tile.page}?${new URLSearchParams({ run: page.run.key })}&${query}`,
    "data-page": tile.page,
    "data-query": query,
  });
}

/** @param {Profiles.Page} page */
function draw(page) {
  plots.drawFull(page);
  efficiency.draw(page);
  const host = page.find(".ms-profile-overview-tiles");
  /** @type {OverviewTile[]} */
  const tiles = JSON.parse(host.dataset.tiles);
  const wanted = JSON.stringify([page.run.key, page.profile.session, page.profile.rank, page.profile.frames]);
  if (host.dataset.drawn === wanted) return;
  host.dataset.drawn = wanted;
  host.replaceChildren(...tiles.map((tile) => tileOf(page, tile)));
}

const pageOf = profiling.define("profile_overview", { build, draw });

Object.assign(functionsOf("mindscope_steps"), {
  /**
   * @param {PlotlyFigure | null} figure
   * @param {string} rootId
   */
  joined(figure, rootId) {
    const page = pageOf(rootId);
    return page ? plots.place(page, "joined", figure) : noUpdate();
  },
});

plots.keys("ms-profile-overview");
