// The controls of live training (layouts/dumps/live.py): its state, and orders for it. The server is asked once a second
// while training can connect and the page is seen. page.live is the status, null before the first answer.

import { make, words } from "../kit/elements.js";
import { reasonOf } from "../kit/reasons.js";
import { count } from "../kit/units.js";
import { setLabel, translate, writeText } from "../kit/i18n.js";
import { post } from "../kit/notes.js";

const EVERY_MS = 1000;
const OPEN = ["waiting", "node_too_large"];
const OVER = ["pending", "ended"];

/** @param {string} key */
export const isLive = (key) => key.startsWith("live:");
/** @param {string} key */
export const sessionName = (key) => translate("live.session", { n: key.slice("live:".length) });

/**
 * The chosen session, or null.
 * @param {Dumps.Page} page
 */
export function sessionOf(page) {
  const key = page.dump && isLive(page.dump.key) ? page.dump.key : null;
  return (key && page.live && page.live.sessions.find((one) => one.key === key)) || null;
}

/**
 * The keys of all sessions, newest first.
 * @param {Dumps.Page} page
 */
export function sessionsOf(page) {
  return page.live ? page.live.sessions.map((one) => one.key) : page.catalogue.sessions.map(([key]) => key);
}

/**
 * The latest known mark of what a session has sent; "" if none is known.
 * @param {Dumps.Page} page
 */
export function markOf(page, key) {
  const found = page.live && page.live.sessions.find((one) => one.key === key);
  return found ? found.mark : "";
}

/** @returns {LiveTraining.Fields} */
export const fields = () => ({
  live: null, liveError: "", liveRefused: "", liveChanged: () => {}, liveTimer: 0, liveParts: null,
});

/**
 * Ask the server from now on; changed() is called after each answer that tells something new.
 * @param {Dumps.Page} page
 * @param {() => void} changed
 */
export function build(page, changed) {
  page.liveChanged = changed;
}

/** @param {Dumps.Page} page */
async function ask(page) {
  const answer = await fetch(`${page.root.dataset.routes}live.json`, { credentials: "same-origin" });
  if (!answer.ok) throw new Error(translate("live.no_answer"));
  return answer.json();
}

/**
 * What decides the drawing: everything but the seconds since the last message.
 * @param {object | null} live
 */
const seen = (live) => live && JSON.stringify(live, (key, value) => key === "heard_s" ? undefined : value);

/**
 * Keep asking while the page is there and training can connect.
 * @param {Dumps.Page} page
 */
function watch(page) {
  if (page.liveTimer || !page.catalogue || !page.catalogue.live) return;
  const turn = async () => {
    page.liveTimer = 0;
    if (!page.root.isConnected) return;
    if (document.visibilityState === "visible") {
      try {
        take(page, await ask(page));
      } catch {
        fail(page, translate("live.no_answer"));
      }
    }
    page.liveTimer = window.setTimeout(turn, EVERY_MS);
  };
  page.liveTimer = window.setTimeout(turn, 0);
}

/** @param {Dumps.Page} page */
function take(page, live) {
  const news = seen(live) !== seen(page.live);
  page.live = live;
  page.liveError = page.liveRefused;
  if (news) page.liveChanged();
  else drawBar(page);
}

/** @param {Dumps.Page} page */
function fail(page, text) {
  page.liveError = text;
  drawBar(page);
}

/** @param {Dumps.Page} page */
async function order(page, kind, more = {}) {
  const { key } = sessionOf(page);
  page.liveRefused = "";
  try {
    const now = await post(page.root.dataset.routes, "live", { session: key, order: kind, ...more });
    take(page, { ...page.live, sessions: page.live.sessions.map((one) => one.key === key ? now : one) });
  } catch (error) {
    page.liveRefused = reasonOf(error);
    fail(page, reasonOf(error));
  }
}

/**
 * Forget the chosen session, and show what is shown without a choice.
 * @param {Dumps.Page} page
 */
async function dismiss(page) {
  const { key } = sessionOf(page);
  await order(page, "dismiss");
  if (page.liveRefused) return;
  take(page, { ...page.live, sessions: page.live.sessions.filter((one) => one.key !== key) });
  page.change({ of: [], rank: [], step: [], node: [], io: [] });
}

// Drawing -----------------------------------------------------------------------------------------------------------

function press(key, act, attributes = {}) {
  const button = make("button", "ms-button", words(key), { type: "button", ...attributes });
  if (attributes.tip) setLabel(button, "title", attributes.tip);
  button.removeAttribute("tip");
  button.addEventListener("click", act);
  return button;
}

/** @param {Dumps.Page} page */
function parts(page) {
  if (page.liveParts) return page.liveParts;
  const steps = make("input", "ms-input ms-live-steps", [], { type: "number", min: "1", max: "2147483647", value: "1" });
  for (const name of ["title", "aria-label"]) setLabel(steps, name, "live.steps");
  const run = () => {
    const number = Math.trunc(Number(steps.value));
    steps.value = String(number >= 1 && number < 2 ** 31 ? number : 1);
    order(page, "continue", { steps: Number(steps.value) });
  };
  steps.addEventListener("keydown", (event) => event.key === "Enter" && !buttons.continue.disabled && run());
  const ask = (kind, more) => () => order(page, kind, more);
  const buttons = {
    continue: press("live.continue", run, { tip: "live.continue.tip" }),
    until: press("live.until_hit", ask("continue", { steps: -1 }), { tip: "live.until_hit.tip" }),
    node: press("live.to_node", () => order(page, "node", { node: nodeOf(page) }), { tip: "live.to_node.tip" }),
    next: press("live.next", ask("node", { node: "" }), { tip: "live.next.tip" }),
    recheck: press("live.recheck", ask("recheck"), { tip: "live.recheck.tip" }),
    pause: press("live.pause", ask("pause"), { tip: "live.pause.tip" }),
    dismiss: press("live.dismiss", () => dismiss(page), { tip: "live.dismiss.tip" }),
  };
  const sure = make("details", "ms-details ms-live-sure", [
    make("summary", "ms-button", words("live.terminate")),
    make("div", "ms-popover", [
      words("live.sure", {}, "p"),
      make("div", "ms-toolbar", [
        press("live.terminate", () => { sure.open = false; order(page, "terminate"); }, { class: "ms-button ms-live-end" }),
        press("live.keep", () => { sure.open = false; }),
      ]),
    ]),
  ]);
  page.liveParts = {
    steps, buttons, sure,
    state: make("span", "ms-badge ms-live-state"),
    facts: make("span", "ms-live-facts"),
    about: make("span", "ms-live-about ms-muted"),
    error: make("span", "ms-body-wrong", [], { role: "alert" }),
  };
  return page.liveParts;
}

/** @param {Dumps.Page} page */
const nodeOf = (page) => (page.state.node || [])[0] || "";

/**
 * Draw the controls; called whenever the page is drawn.
 * @param {Dumps.Page} page
 */
export function draw(page) {
  watch(page);
  drawBar(page);
}

/** @param {Dumps.Page} page */
function drawBar(page) {
  const host = page.find(".ms-live");
  if (!host) return;
  const session = sessionOf(page);
  const address = page.catalogue ? page.catalogue.live : "";
  host.hidden = !session && !address;
  if (host.hidden) return;
  if (session) drawSession(page, host, session);
  else drawListening(page, host, address);
}

/** @param {Dumps.Page} page */
function drawSession(page, host, session) {
  const { steps, buttons, sure, state, facts, about, error } = parts(page);
  if (host.firstChild !== state) {
    const { continue: go, until, node, next, recheck, pause, dismiss: forget } = buttons;
    const open = [steps, go, until, node, next, recheck, pause, forget, sure];
    host.replaceChildren(state, facts, make("span", "ms-toolbar ms-live-orders", open), about, error);
    host.classList.remove("ms-live-open");
  }
  const lost = session.state === "pending" && session.reason !== "";
  writeText(state, `live.state.${lost ? "lost" : session.state}`);
  state.dataset.live = lost ? "lost" : session.state;
  const [sentence, values] = /** @type {[string, TextValues?]} */ (aboutOf(session));
  setLabel(state, "title", sentence, values);
  drawFacts(facts, session);
  const [notice, given] = /** @type {[string, TextValues?]} */ (noticeOf(session));
  about.hidden = !notice;
  if (notice) writeText(about, notice, given);
  error.textContent = page.liveError;
  error.hidden = !page.liveError;
  const open = OPEN.includes(session.state);
  const over = OVER.includes(session.state) || page.live.read_only;
  const byNode = session.backend !== "Ascend";
  for (const one of [steps, ...Object.values(buttons), sure]) one.hidden = over;
  for (const name of ["continue", "until", "node", "next", "recheck"]) buttons[name].disabled = !open;
  steps.disabled = !open;
  buttons.node.hidden ||= !byNode || !nodeOf(page);
  buttons.next.hidden ||= !byNode;
  buttons.recheck.hidden ||= !session.recheck;
  buttons.pause.disabled = session.state !== "running";
  buttons.dismiss.hidden = page.live.read_only || !(session.state === "ended" || lost);
}

// The sentence that explains a state: text key and values.
function aboutOf(session) {
  const { state, reason, version, graph, refused, refusal } = session;
  const key = reason || state;
  return [`live.about.${key}`, { version: version || "?", graph, n: count(refused), text: refusal }];
}

// What must be read without pointing at anything.
function noticeOf(session) {
  if (["mismatch", "node_too_large"].includes(session.state) || session.reason) return aboutOf(session);
  if (session.refused) return ["live.refusals", { n: count(session.refused) }];
  if (session.unsent) return ["live.unsent", { n: count(session.unsent) }];
  if (session.unusual) return ["live.unusual", { version: session.version || "?" }];
  return ["", {}];
}

function drawFacts(host, session) {
  const told = [session.step ? words("live.step", { n: count(session.step) }) : words("live.before")];
  if (session.node) told.push(words("live.at", { node: session.node.slice(session.node.lastIndexOf("/") + 1) }));
  if (session.left > 0) told.push(words("live.left", { n: count(session.left) }));
  if (session.left < 0) told.push(words("live.left_until_hit"));
  if (session.hits) told.push(words("live.hits", { n: count(session.hits) }));
  if (session.heard_s >= 5 && session.state !== "waiting" && session.state !== "ended") {
    told.push(words("live.heard", { n: count(Math.round(session.heard_s)) }));
  }
  host.replaceChildren(...told.flatMap((one, place) => place ? [" · ", one] : [one]));
  host.title = [session.client, session.backend, session.version && `MindSpore ${session.version}`, session.node]
    .filter(Boolean).join("\n");
}

/**
 * Where training can connect, and the sessions there are.
 * @param {Dumps.Page} page
 */
function drawListening(page, host, address) {
  const sessions = page.live ? page.live.sessions : [];
  const told = sessions.map(({ key, state, step, reason }) => [key, state, step, reason]);
  const shown = JSON.stringify([address, told, Boolean(page.dump), page.live && page.live.turned_away, page.liveError]);
  if (host.dataset.shown === shown && host.firstChild && host.firstChild.classList.contains("ms-live-where")) return;
  host.dataset.shown = shown;
  const alone = !page.dump && !sessions.length;
  host.classList.toggle("ms-live-open", alone);
  const [name, port] = [address.slice(0, address.lastIndexOf(":")), address.slice(address.lastIndexOf(":") + 1)];
  const code = `export ENABLE_MS_DEBUGGER=1\nexport MS_DEBUGGER_HOST=${name}\nexport MS_DEBUGGER_PORT=${port}\npython train.py`;
  const how = [
    words("live.how_text", {}, "p"), make("pre", "ms-code", make("code", "", code)),
    words("live.how_versions", {}, "p", "ms-muted"),
  ];
  const where = words(alone ? "live.waits" : "live.listening", { address }, "span", "ms-live-where");
  const turned = page.live && page.live.turned_away
    ? [words("live.turned_away", { n: count(page.live.turned_away) }, "span", "ms-body-wrong")] : [];
  const details = make("details", "ms-details", [
    make("summary", "ms-button ms-button-quiet", words("live.how")), make("div", "ms-popover ms-live-how", how),
  ]);
  const error = page.liveError ? [make("span", "ms-body-wrong", page.liveError)] : [];
  // Other pages about dumps name the sessions in their select.
  const chips = page.root.dataset.page === "debugger" ? sessions.map(show(page)) : [];
  host.replaceChildren(where, ...(alone ? how : chips), ...turned, ...error, ...(alone ? [] : [details]));
}

/** @param {Dumps.Page} page */
const show = (page) => ({ key, state, reason, step }) => {
  const told = state === "pending" && reason ? "lost" : state;
  const button = make("button", "ms-button", [
    sessionName(key), " · ", words(`live.state.${told}`), " · ", words("live.step", { n: count(step) }),
  ], { type: "button" });
  button.addEventListener("click", () => page.change({ of: [key], rank: [], step: [], node: [], io: [] }));
  return button;
};
