// What is asked of the server: plain routes about one trace (app/routes/profiles/timeline.py).

const BLOCK = 2048;

/** @typedef {{ names: string[], medians: number[] }} Block what was asked for; the other is not there */
/** @typedef {(from: number, to: number, medians: boolean) => Promise<Block>} FetchBlock */
/**
 * @template Value
 * @typedef {Map<number, Value[] | null>} Blocks null for those on their way
 */

/** The routes of some traces. query names them: [[parameter, value], ...]. */
export class Server {
  /**
   * @param {string} routes
   * @param {[string, string][]} query
   */
  constructor(routes, query) {
    this.routes = routes;
    this.query = query;
  }

  /**
   * @param {string} name
   * @param {Timeline.Parameters} [parameters]
   */
  url(name, parameters = {}) {
    const query = new URLSearchParams(this.query);
    for (const [key, value] of Object.entries(parameters)) {
      if (value !== null && value !== undefined && value !== "") query.set(key, String(value));
    }
    return `${this.routes}timeline/${name}?${query}`;
  }

  /**
   * The response; throws an Error with the server's reason.
   * @param {string} name
   * @param {Timeline.Parameters} [parameters]
   * @param {AbortSignal | null} [signal]
   */
  async ask(name, parameters, signal = null) {
    const answer = await fetch(this.url(name, parameters), { signal, credentials: "same-origin" });
    if (answer.ok) return answer;
    let reason = `${answer.status}`;
    try {
      reason = (await answer.json()).error || reason;
    } catch {
      // The status alone has to do.
    }
    throw new Error(reason);
  }

  /**
   * @param {string} name
   * @param {Timeline.Parameters} [parameters]
   * @param {AbortSignal | null} [signal]
   */
  async json(name, parameters, signal = null) {
    return (await this.ask(name, parameters, signal)).json();
  }

  /**
   * @param {string} name
   * @param {Timeline.Parameters} [parameters]
   * @param {AbortSignal | null} [signal]
   */
  async bytes(name, parameters, signal = null) {
    return (await this.ask(name, parameters, signal)).arrayBuffer();
  }
}

/**
 * Names of slices by number, and medians of their durations, fetched in blocks when they are first asked for.
 * fetchBlock(from, to, medians) returns { names } or { medians }; arrived is called when some have come.
 */
export class Names {
  /**
   * @param {number} total
   * @param {FetchBlock} fetchBlock
   * @param {() => void} arrived
   */
  constructor(total, fetchBlock, arrived) {
    this.total = total;
    this.fetchBlock = fetchBlock;
    this.arrived = arrived;
    /** @type {Blocks<string>} */
    this.names = new Map();
    /** @type {Blocks<number>} */
    this.medians = new Map();
  }

  /**
   * The name, or null while it is on its way.
   * @param {number} number
   */
  get(number) {
    return this.look(this.names, "names", number, "");
  }

  /**
   * The median duration in ns, or null while it is on its way.
   * @param {number} number
   */
  median(number) {
    return this.look(this.medians, "medians", number, 0);
  }

  /**
   * @template Value
   * @param {Blocks<Value>} blocks
   * @param {"names" | "medians"} what
   * @param {number} number
   * @param {Value} none
   */
  look(blocks, what, number, none) {
    const block = Math.floor(number / BLOCK);
    const values = blocks.get(block);
    if (values) return values[number - block * BLOCK] ?? none;
    if (values === undefined) this.load(what, block);
    return null;
  }

  /**
   * @param {"names" | "medians"} what
   * @param {number} block
   */
  async load(what, block) {
    const blocks = this[what];
    blocks.set(block, null);
    const from = block * BLOCK;
    try {
      const found = await this.fetchBlock(from, Math.min(from + BLOCK, this.total), what === "medians");
      if (what === "names") this.names.set(block, found.names);
      else this.medians.set(block, found.medians);
    } catch {
      blocks.delete(block);
      return;
    }
    this.arrived();
  }
}
