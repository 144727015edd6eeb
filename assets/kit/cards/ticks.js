// Which tags are selected: the filter of the list and its checkboxes.

/**
 * @param {string} text
 * @returns {RegExp | null | undefined}
 */
export function pattern(text) {
  if (!text) return null;
  try {
    return new RegExp(text, "i");
  } catch (error) {
    return undefined;
  }
}

/**
 * @param {string[]} tags
 * @param {string} text
 */
export function matching(tags, text) {
  const expression = pattern(text);
  return expression ? tags.filter((tag) => expression.test(tag)) : tags;
}

/**
 * The state lists the checked ("tag") or the unchecked tags ("untick"), whichever are fewer; neither means all. Links of 0.1
 * have unchecked ones under "hide", which lists hidden runs.
 * @param {Wire.Query} state
 * @returns {(tag: string) => boolean}
 */
export function ticked(state) {
  if (state.tag) {
    const names = new Set(state.tag);
    return (tag) => names.has(tag);
  }
  const names = new Set([...(state.untick || []), ...(state.hide || [])]);
  return (tag) => !names.has(tag);
}

/**
 * @param {KeptPage & { catalogue: Wire.TagCatalogue | null }} page
 * @param {(tag: string) => boolean} isTicked
 */
export function tick(page, isTicked) {
  const tags = page.catalogue ? page.catalogue.tags : [];
  const on = tags.filter(isTicked);
  const off = tags.filter((tag) => !isTicked(tag));
  const known = new Set(tags);
  /**
   * an empty tag means none
   * @type {Wire.Query}
   */
  const changes = { page: [], tag: [], untick: [], hide: (page.state.hide || []).filter((name) => !known.has(name)) };
  if (off.length && on.length <= off.length) changes.tag = on.length ? on : [""];
  else if (off.length) changes.untick = off;
  page.change(changes);
}
