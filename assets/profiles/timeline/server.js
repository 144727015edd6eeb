// What is asked of the server: plain routes about one trace (app/routes/profiles/timeline.py).

const BLOCK = 2048;

/** The routes of some traces. query names them: [[parameter, value], ...]. */
export class Server {
  constructor(routes, query) {
    this.routes = routes;
    this.query = query;
  }

  url(name, parameters = {}) {
    const query = new URLSearchParams(this.query);
    for (const [key, value] of Object.entries(parameters)) {
      if (value !== null && value !== undefined && value !== "") query.set(key, String(value));
    }
    return `${this.routes}timeline/${name}?${query}`;
  }

  /** The response; throws an Error with the server's reason. */
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

  async json(name, parameters, signal = null) {
    return (await this.ask(name, parameters, signal)).json();
  }

  async bytes(name, parameters, signal = null) {
    return (await this.ask(name, parameters, signal)).arrayBuffer();
  }
}

/**
 * Names of slices by number, and medians of their durations, fetched in blocks when they are first asked for.
 * fetchBlock(from, to, medians) returns { names } or { medians }; arrived is called when some have come.
 */
export class Names {
  constructor(total, fetchBlock, arrived) {
    this.total = total;
    this.fetchBlock = fetchBlock;
    this.arrived = arrived;
    this.known = { names: new Map(), medians: new Map() };
  }

  /** The name, or null while it is on its way. */
  get(number) {
    return this.look("names", number, "");
  }

  /** The median duration in ns, or null while it is on its way. */
  median(number) {
    return this.look("medians", number, 0);
  }

  look(what, number, none) {
    const block = Math.floor(number / BLOCK);
    const values = this.known[what].get(block);
    if (values) return values[number - block * BLOCK] ?? none;
    if (values === undefined) this.load(what, block);
    return null;
  }

  async load(what, block) {
    const blocks = this.known[what];
    blocks.set(block, null);
    try {
      const from = block * BLOCK;
      blocks.set(block, (await this.fetchBlock(from, Math.min(from + BLOCK, this.total), what === "medians"))[what]);
    } catch {
      blocks.delete(block);
      return;
    }
    this.arrived();
  }
}
