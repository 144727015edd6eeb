// The profile overview: tiles that link to the other pages about the profile. Counterpart of layouts/profiles/profile_overview.

import { functionsOf, noUpdate } from "../../kit/dash.js";
import { icon, make, words } from "../../kit/elements.js";
import * as efficiency from "../efficiency.js";
import * as plots from "../plots.js";
import * as profiling from "../profiles.js";

function build(page) {
  plots.furnish(page);
  plots.watch(page);
  efficiency.build(page);
}

function link(page) {
  const { run, profile } = page;
  return new URLSearchParams({ of: run.key, session: profile.session, rank: String(profile.rank) }).toString();
}

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

function draw(page) {
  plots.drawFull(page);
  efficiency.draw(page);
  const host = page.find(".ms-profile-overview-tiles");
  const tiles = JSON.parse(host.dataset.tiles);
  const wanted = JSON.stringify([page.run.key, page.profile.session, page.profile.rank, page.profile.frames]);
  if (page.tiles === wanted) return;
  page.tiles = wanted;
  host.replaceChildren(...tiles.map((tile) => tileOf(page, tile)));
}

profiling.define("profile_overview", { build, draw });

Object.assign(functionsOf("mindscope_steps"), {
  joined(figure, rootId) {
    const page = profiling.pageOf(rootId);
    return page ? plots.place(page, "joined", figure) : noUpdate();
  },
});

plots.keys("ms-profile-overview");
