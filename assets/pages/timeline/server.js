// What is asked of the server: plain routes about one trace (app/routes/timeline.py).

const BLOCK = 2048;

/** The routes of one trace. query names the profile. */
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

/** Names of slices by number, fetched in blocks when they are first asked for; arrived is called when some have come. */
export class Names {
  constructor(total, fetchBlock, arrived) {
    this.total = total;
    this.fetchBlock = fetchBlock;
    this.arrived = arrived;
    this.blocks = new Map();
    this.medians = new Float64Array(total);
  }

  /** The name, or null while it is on its way. */
  get(number) {
    const block = Math.floor(number / BLOCK);
    const known = this.blocks.get(block);
    if (known) return known[number - block * BLOCK] ?? "";
    if (known === undefined) this.load(block);
    return null;
  }

  async load(block) {
    this.blocks.set(block, null);
    try {
      const from = block * BLOCK;
      const found = await this.fetchBlock(from, Math.min(from + BLOCK, this.total));
      this.blocks.set(block, found.names);
      this.medians.set(found.medians, from);
    } catch {
      this.blocks.delete(block);
      return;
    }
    this.arrived();
  }
}
