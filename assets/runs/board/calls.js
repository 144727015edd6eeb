// Callbacks of pages that Dash does not know: which there are, by the list that Dash has too, and requests to the server, which
// are those that Dash would send. What several cards ask at once goes in one request; if that is refused, each card asks alone.

import { isOfRequest, markOwn } from "../../kit/answers.js";

const MOST_CARDS = 60;  // of one request: ROOM * SLOTS of layouts/kit/cards/cards.py

/** @typedef {{ id: string, property: string }} Place a property of a component */
/** @typedef {Place & { value?: unknown }} Value */
/** @typedef {Record<string, Record<string, unknown>>} Answer id -> property -> value */

/**
 * A callback as Dash describes it to browsers.
 * @typedef {object} Callback
 * @property {string} output
 * @property {Place[]} inputs
 * @property {Place[]} state
 * @property {{ namespace: string, function_name: string } | null} clientside_function
 * @property {boolean} prevent_initial_call
 * @property {boolean} no_output
 */

/**
 * A call of a callback of the server, with the ids that the server knows.
 * @typedef {object} Call
 * @property {string} app address of the application
 * @property {Callback} callback
 * @property {Value[]} inputs
 * @property {Value[]} state
 * @property {(answer: Answer, refusal?: string) => void} take called once, with an empty answer if nothing changes; refusal
 *   says why the server refused, "" for an error of its own
 */

/** @type {Map<string, Promise<Callback[]>>} */
const lists = new Map();

/**
 * All callbacks of an application.
 * @param {string} app
 * @returns {Promise<Callback[]>}
 */
export function callbacksOf(app) {
  const known = lists.get(app);
  if (known) return known;
  const answer = window.fetch(`${app}_dash-dependencies`, { credentials: "same-origin" }).then((response) => {
    if (!response.ok) throw new Error(`cannot load ${response.url}: ${response.status}`);
    return response.json();
  });
  lists.set(app, answer);
  answer.catch(() => lists.delete(app));
  return answer;
}

/**
 * The properties that a callback sets.
 * @param {Callback} callback
 * @returns {Place[]}
 */
export function outputsOf({ output, no_output: none }) {
  if (none) return [];
  const names = output.startsWith("..") ? output.slice(2, -2).split("...") : [output];
  return names.map((name) => {
    const at = name.lastIndexOf(".");
    return { id: name.slice(0, at), property: name.slice(at + 1).split("@")[0] };
  });
}

/** @param {Call} call */
function bodyOf({ callback, inputs, state }) {
  const outputs = outputsOf(callback);
  return JSON.stringify({
    output: callback.output, outputs: callback.output.startsWith("..") ? outputs : outputs[0], inputs,
    changedPropIds: inputs.map(({ id, property }) => `${id}.${property}`), state,
  });
}

/**
 * @typedef {{ answer: Answer, refusal?: string }} Posted
 */

/**
 * @param {string} app
 * @param {string} body
 * @returns {Promise<Posted>} nothing if the server changes nothing or is not there, which the window says by itself
 */
async function post(app, body) {
  try {
    const response = await window.fetch(`${app}_dash-update-component`, markOwn({
      method: "POST", credentials: "same-origin", headers: { "Content-Type": "application/json" }, body,
    }));
    if (response.status === 200) return { answer: (await response.json()).response };
    return { answer: {}, refusal: isOfRequest(response.status) ? await reasonOf(response) : undefined };
  } catch {
    return { answer: {} };
  }
}

/**
 * @param {Response} response
 * @returns {Promise<string>}
 */
async function reasonOf(response) {
  const { error } = await response.json().catch(() => ({}));
  return error || "";
}

/** @type {Map<string, Promise<Posted>>} */
const answers = new Map();  // body -> what was answered to it for these data

/** Answers that were given before the data changed are given no more. */
export const forgetAnswers = () => answers.clear();

// Calls that are alike ----------------------------------------------------------------------------------------------

/** @param {Place} place */
const partOf = ({ id }) => id.split("-").slice(2).join("-");

/** @param {Call} call */
const isDrawing = ({ callback, inputs }) =>
  inputs.length === 1 && partOf(outputsOf(callback)[0]) === `${partOf(inputs[0])}-answer`;
/** @param {Call} call */
const isGrowth = ({ callback }) => partOf(outputsOf(callback)[0]) === "grown";

/**
 * @param {Call} call
 * @returns {[number, unknown][]} [slot, what it asks for]
 */
const cardsOf = ({ inputs }) => /** @type {{ cards: [number, unknown][] }} */ (inputs[0].value).cards;

/**
 * Requests for the drawings that several cards ask for, whose slots have other numbers in them.
 * @param {Call[]} calls
 */
function draw(calls) {
  /** @type {Call[]} */
  let some = [];
  let count = 0;
  for (const call of calls) {
    const { length } = cardsOf(call);
    if (some.length && count + length > MOST_CARDS) {
      drawAtOnce(some);
      [some, count] = [[], 0];
    }
    some.push(call);
    count += length;
  }
  drawAtOnce(some);
}

/** @param {Call[]} calls */
async function drawAtOnce(calls) {
  const [call] = calls;
  const cards = calls.flatMap((one) => cardsOf(one).map(([slot, ask]) => ({ call: one, slot, ask })));
  if (!cards.length) {
    for (const one of calls) one.take({});
    return;
  }
  const value = { cards: cards.map(({ ask }, number) => [number, ask]) };
  const [output] = outputsOf(call.callback);
  const { answer, refusal } = await post(call.app, bodyOf({ ...call, inputs: [{ ...call.inputs[0], value }] }));
  if (refusal !== undefined && calls.length > 1) for (const one of calls) drawAtOnce([one]);
  else if (refusal !== undefined) call.take({}, refusal);
  else share(calls, cards, /** @type {any[]} */ (answer[output.id]?.[output.property] || []), output, {});
}

/**
 * Give each call what is its own of an answer, with its own slots.
 * @param {Call[]} calls
 * @param {{ call: Call, slot: number }[]} cards
 * @param {any[]} drawn
 * @param {Place} output
 * @param {Answer} others
 */
function share(calls, cards, drawn, output, others) {
  /** @type {Map<Call, any[]>} */
  const own = new Map(calls.map((call) => [call, []]));
  for (const [number, ...rest] of drawn) own.get(cards[number].call)?.push([cards[number].slot, ...rest]);
  for (const [call, found] of own) call.take(found.length ? { ...others, [output.id]: { [output.property]: found } } : others);
}

/**
 * One request for the cards of several calls whose data may have changed.
 * @param {Call[]} calls
 */
async function grow(calls) {
  const cards = calls.flatMap((call) => {
    const [shown, asks, drawn] = call.state.map(({ value }) => /** @type {any[]} */ (value) || []);
    return asks.flatMap((ask, slot) =>
      (ask && drawn[slot] ? [{ call, slot, ask, drawn: drawn[slot], shown: shown.includes(slot) }] : []));
  });
  if (!cards.length) {
    for (const call of calls) call.take({});
    return;
  }
  const [{ call }] = cards;
  const looked = calls.map(({ state }) => state[3].value);
  const values = [
    cards.flatMap((card, number) => (card.shown ? [number] : [])), cards.map(({ ask }) => ask), cards.map(({ drawn }) => drawn),
    looked.every((one) => one === looked[0]) ? looked[0] : null,
  ];
  const state = call.state.map((place, at) => ({ ...place, value: values[at] }));
  const { answer, refusal } = await post(call.app, bodyOf({ ...call, state }));
  const [output] = outputsOf(call.callback);
  const { [output.id]: found, ...others } = answer;
  if (refusal !== undefined && calls.length > 1) for (const one of calls) grow([one]);
  else if (refusal !== undefined) calls[0].take({}, refusal);
  else share(calls, cards, /** @type {any[]} */ (found?.[output.property] || []), output, others);
}

/** @param {Call} call */
async function each(call) {
  const body = bodyOf(call);
  const key = `${call.app} ${body}`;
  const isOfData = call.inputs.some((input) => partOf(input) === "version" && typeof input.value === "number");
  const answer = answers.get(key) || post(call.app, body);
  if (isOfData) answers.set(key, answer);
  const { answer: found, refusal } = await answer;
  call.take(found, refusal);
}

// Requests ----------------------------------------------------------------------------------------------------------

/** @type {Call[]} */
let waiting = [];

function send() {
  /** @type {Map<string, Call[]>} */
  const alike = new Map();
  for (const call of waiting) {
    const key = `${call.app} ${call.callback.output}`;
    alike.set(key, [...(alike.get(key) || []), call]);
  }
  waiting = [];
  for (const calls of alike.values()) {
    if (isDrawing(calls[0])) draw(calls);
    else if (isGrowth(calls[0])) grow(calls);
    else calls.forEach(each);
  }
}

/**
 * Call a callback of the server, together with what others ask at the same time.
 * @param {Call} call
 */
export function ask(call) {
  if (!waiting.length) window.setTimeout(send);
  waiting.push(call);
}
