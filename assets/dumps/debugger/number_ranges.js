// Choices of numbers as ascending, separate ranges [first, end]: the operators of a watchpoint by their numbers in the tree.

/** How many numbers of first to end are chosen. */
export function within(ranges, first, end) {
  let many = 0;
  for (const [from, to] of ranges) many += Math.max(0, Math.min(to, end) - Math.max(from, first));
  return many;
}

export function removed(ranges, first, end) {
  const found = [];
  for (const [from, to] of ranges) {
    if (from < Math.min(to, first)) found.push([from, Math.min(to, first)]);
    if (Math.max(from, end) < to) found.push([Math.max(from, end), to]);
  }
  return found;
}

export function added(ranges, first, end) {
  const all = [...removed(ranges, first, end), [first, end]].sort((a, b) => a[0] - b[0]);
  const found = [];
  for (const [from, to] of all) {
    const last = found[found.length - 1];
    if (last && last[1] === from) last[1] = to;
    else found.push([from, to]);
  }
  return found;
}

export const joined = (ranges, others) => others.reduce((all, [first, end]) => added(all, first, end), ranges);

export const size = (ranges) => ranges.reduce((sum, [first, end]) => sum + end - first, 0);

export const written = (ranges) => ranges.map(([first, end]) => `${first}-${end}`).join(",");
