// Requests whose sender says by itself that the server refused them. Of those of Dash the window says it (shell/connection.js).

/** @type {WeakSet<RequestInit>} */
const own = new WeakSet();

/**
 * Keep the window from saying that this request was refused.
 * @param {RequestInit} options
 */
export function markOwn(options) {
  own.add(options);
  return options;
}

/** @param {RequestInit | undefined} options */
export const isOwn = (options) => options !== undefined && own.has(options);

/**
 * Whether a status is about one request: refused, or an error while it was answered. Others are about the server.
 * @param {number} status
 */
export const isOfRequest = (status) => status === 400 || status === 500;
