// What went wrong, as a text.

/**
 * The message of what was thrown.
 * @param {unknown} error
 */
export const reasonOf = (error) => (error instanceof Error ? error.message : String(error));
