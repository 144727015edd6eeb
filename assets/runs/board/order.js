// In which order callbacks run: by the rule that Dash has (getReadyCallbacks of its renderer).

import { outputsOf } from "./calls.js";

/** @import { Callback, Place } from "./calls.js" */

/** @param {Place} place */
const nameOf = ({ id, property }) => `${id}.${property}`;

/**
 * What each callback may lead to: its outputs, those of the callbacks that take them, and so on.
 * @param {Callback[]} callbacks
 * @returns {Map<Callback, Set<string>>} callback -> "id.property"
 */
export function reachOf(callbacks) {
  const outputs = new Map(callbacks.map((one) => [one, outputsOf(one).map(nameOf)]));
  return new Map(callbacks.map((callback) => {
    const reached = new Set(outputs.get(callback));
    for (const name of reached) {  // a set that grows goes on
      for (const one of callbacks) {
        if (!one.inputs.some((input) => nameOf(input) === name)) continue;
        for (const output of outputs.get(one) || []) reached.add(output);
      }
    }
    return [callback, reached];
  }));
}

/**
 * The callback that runs next, if any may: none while what it takes may still be set by another one that is due or whose answer
 * is awaited. Of callbacks that wait for each other, and for no answer, the first runs.
 * @param {Iterable<Callback>} due
 * @param {Iterable<Callback>} awaited
 * @param {Map<Callback, Set<string>>} reach
 * @returns {Callback | undefined}
 */
export function nextOf(due, awaited, reach) {
  const [candidates, asked] = [[...due], [...awaited]];
  const active = new Set([...candidates, ...asked]);
  const ready = candidates.find((callback) => {
    const own = new Set(outputsOf(callback).map(nameOf));
    const taken = callback.inputs.map(nameOf).filter((name) => !own.has(name));
    return ![...active].some((other) => other !== callback && taken.some((name) => reach.get(other)?.has(name)));
  });
  return ready || (asked.length ? undefined : candidates[0]);
}
