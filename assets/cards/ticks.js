// Which tags are selected: the filter of the list and its checkboxes.

export function pattern(text) {
  if (!text) return null;
  try {
    return new RegExp(text, "i");
  } catch (error) {
    return undefined;
  }
}

export function matching(tags, text) {
  const expression = pattern(text);
  return expression ? tags.filter((tag) => expression.test(tag)) : tags;
}

// The state lists the checked or the unchecked tags, whichever are fewer; neither means all.
export function ticked(state) {
  if (state.tag) {
    const names = new Set(state.tag);
    return (tag) => names.has(tag);
  }
  if (state.hide) {
    const names = new Set(state.hide);
    return (tag) => !names.has(tag);
  }
  return () => true;
}

export function tick(page, isTicked) {
  const tags = page.catalogue ? page.catalogue.tags : [];
  const on = tags.filter(isTicked);
  const off = tags.filter((tag) => !isTicked(tag));
  // an empty tag means none
  const changes = { page: [], tag: [], hide: [] };
  if (off.length && on.length <= off.length) changes.tag = on.length ? on : [""];
  else if (off.length) changes.hide = off;
  page.change(changes);
}
