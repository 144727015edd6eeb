// Short forms of names that are shown together: cut at separators, always with an ellipsis, and never alike.
//
// A short form consists of tokens of the name, with "…" for those that were left out. Read as a pattern, with any text for each
// "…", it fits no other of the names: no two short forms are equal, and none reads as another name. layouts/kit/names.py is the
// same with the width in letters; both pass the cases of tests/layouts/kit/names.json. Elements: name_elements.js.

export const CUT = "…";
/** @param {string} text */
const beforeCut = (text) => text.replace(/\.+$/, "");
/** @param {string} text */
const afterCut = (text) => text.replace(/^\.+/, "");
const MOST_WORDS = 100;  // a text of more is no name, and is cut anywhere
const MOST_BEGUN = 300;  // letters

/** @typedef {(text: string) => number} Width in the unit of the room */
/** @typedef {{ words: string[], separators: string[] }} Tokens separators before each word and after the last */

// Points and signs within a number (0.003, 1e-3) separate nothing.
const SEPARATORS = /((?:[/\\_,:;=| \t\n]|(?<![0-9][eE])-|-(?![0-9])|(?<![0-9])\.|\.(?![0-9]))+)/;
const WITHIN = new RegExp([
  "(?<=[a-z])(?=[A-Z])", "(?<=[A-Z])(?=[A-Z][a-z])",
  "(?<=[A-Za-z])(?<![0-9][eE])(?=[0-9])", "(?<=[0-9])(?=[A-Za-z])(?![eE]-?[0-9])",
  "(?<=[\u2e80-\u9fff\uf900-\ufaff])", "(?=[\u2e80-\u9fff\uf900-\ufaff])",
].join("|"), "u");
const ACCENTS = [["0300", "036f"], ["20d0", "20ff"], ["fe00", "fe0f"]].map((ends) => ends.map((end) => `\\u${end}`).join("-"));
const LETTER = new RegExp(`.(?:[${ACCENTS.join("")}]|\\u200d.?)*`, "gsu");  // with its accents

/** @type {Width} */
const letters = (text) => Array.from(text).length;

export class Names {
  /** @param {Iterable<string>} names that are shown together */
  constructor(names) {
    this.all = [...new Set(names)].sort();
    this.bySeparators = new Split(this.all, bySeparators, 1);
    this.withinWords = new Split(this.all, withinWords, 0);
  }

  /**
   * A name if it fits the room, else its short form. All tokens that differ between the names are kept if there is room, then
   * the first, the last and those between. With less room words are cut at digits and capitals, then anywhere. Where no form
   * that tells the names apart fits the room, the narrowest that does is wider than the room.
   * @param {string} name
   * @param {number} room
   * @param {Width} [width]
   * @returns {string}
   */
  short(name, room, width = letters) {
    if (width(name) <= room) return name;
    if (!this.bySeparators.places.has(name)) return new Names([...this.all, name]).short(name, room, width);
    const others = this.all.filter((other) => other !== name);
    /** @type {string[]} */
    const forms = [];
    for (const split of [this.bySeparators, this.withinWords]) {
      const form = split.form(name, others, room, width);
      if (!form) continue;
      const wide = width(form);
      if (room <= 2 * wide && wide <= room) return form;  // half a room that is empty is worth a cut within a word
      forms.push(form);
    }
    const fitting = forms.filter((form) => width(form) <= room);
    if (fitting.length) return fitting.reduce((best, form) => (width(form) > width(best) ? form : best));
    const form = anywhere(name, others, room, width);
    if (form || !others.length) return form || CUT;
    return [...forms, name].reduce((best, one) => (width(one) < width(best) ? one : best));
  }

  /**
   * The form that has all tokens that differ: what a list should have room for. Of names that have nothing in common it has
   * only those that tell them apart.
   * @param {string} name
   */
  telling(name) {
    return this.bySeparators.telling(name, this.all.filter((other) => other !== name)) || name;
  }
}

/** Names as tokens, and which of the names have each. */
class Split {
  /**
   * @param {string[]} names
   * @param {(name: string) => Tokens} split
   * @param {0 | 1} first which end is kept first: of paths the last one says more, of words the first
   */
  constructor(names, split, first) {
    this.first = first;
    this.names = names;
    this.split = split;
    this.places = new Map(names.map((name, at) => [name, at]));
    /** @type {string[] | null} */
    this.shared = null;
    /** @type {Map<string, Set<number>>} */
    this.having = new Map();
    /** @type {Map<string, Set<number>>} */
    this.known = new Map();
  }

  /** Words that all names have in the same order; of a single name all. */
  common() {
    if (this.shared) return this.shared;
    const every = this.names.map((name) => this.split(name).words);
    this.shared = every[0] || [];
    every.forEach((words, at) => {
      this.shared = longestCommon(/** @type {string[]} */ (this.shared), words);
      for (const word of words) this.having.set(word, (this.having.get(word) || new Set()).add(at));
    });
    return this.shared;
  }

  /** @param {string} word */
  whoHas(word) {
    return this.having.get(word) || new Set();
  }

  /**
   * Places of words that differ, the rarest first, and of those all names have, from the outside inwards.
   * @param {string[]} words
   * @returns {[number[], number[]]}
   */
  order(words) {
    const common = this.common();
    /** @type {number[]} */
    const differ = [];
    /** @type {number[]} */
    const shared = [];
    let at = 0;
    words.forEach((word, place) => {
      if (at < common.length && common[at] === word) {
        at += 1;
        shared.push(place);
      } else differ.push(place);
    });
    const ends = [0, words.length - 1];
    const inside = (/** @type {number} */ place) => Math.min(...ends.map((end) => Math.abs(place - end)));
    const away = (/** @type {number} */ place) => Math.abs(place - ends[this.first]);
    shared.sort((one, other) => inside(one) - inside(other) || away(one) - away(other));
    differ.sort((one, other) => this.whoHas(words[one]).size - this.whoHas(words[other]).size || one - other);
    return [differ, shared];
  }

  /**
   * Places of words without which the form would fit one of the other names.
   * @param {string} name
   * @param {string[]} others
   * @param {number[]} order
   */
  needed(name, others, order) {
    const known = this.known.get(name);
    if (known) return new Set(known);
    const tokens = this.split(name);
    /** @type {Set<number>} */
    let kept = new Set();
    let rivals = this.names.map((_, at) => at).filter((at) => at !== this.places.get(name));
    for (const place of order) {
      const having = this.whoHas(tokens.words[place]);
      const left = rivals.filter((at) => having.has(at));
      if (left.length < rivals.length) kept.add(place);
      rivals = left;
    }
    if (others.length && (rivals.length || fitsAny(written(tokens, kept), others))) kept = toldApart(tokens, others, order);
    this.known.set(name, kept);
    return new Set(kept);
  }

  /**
   * The fullest form that has its room, or the narrowest that tells the names apart; "" if it had no word.
   * @param {string} name
   * @param {string[]} others
   * @param {number} room
   * @param {Width} width
   */
  form(name, others, room, width) {
    const tokens = this.split(name);
    const [differ, shared] = this.order(tokens.words);
    let kept = this.needed(name, others, [...differ, ...shared]);
    const all = new Set([...kept, ...differ]);
    if (width(written(tokens, all)) <= room) kept = all;
    for (const place of [...differ, ...shared]) {
      const more = new Set(kept).add(place);
      if (width(written(tokens, more)) <= room) kept = more;
    }
    return kept.size ? written(tokens, kept) : "";
  }

  /**
   * @param {string} name
   * @param {string[]} others
   */
  telling(name, others) {
    const tokens = this.split(name);
    const [differ, shared] = this.order(tokens.words);
    const kept = new Set([...this.needed(name, others, [...differ, ...shared]), ...(shared.length ? differ : [])]);
    return kept.size ? written(tokens, kept) : "";
  }
}

/**
 * The needed places of names of which the words alone do not tell: with the order and the letters around them.
 * @param {Tokens} tokens
 * @param {string[]} others
 * @param {number[]} order
 */
function toldApart(tokens, others, order) {
  /** @type {Set<number>} */
  let kept = new Set();
  let rivals = others;
  for (const place of order) {
    if (!rivals.length) return kept;
    const more = new Set(kept).add(place);
    const form = written(tokens, more);
    const left = rivals.filter((other) => fits(form, other));
    if (left.length < rivals.length) [kept, rivals] = [more, left];
  }
  while (rivals.length) {  // words that stand elsewhere in other names need those beside them
    const beside = [...kept].flatMap((place) => [place - 1, place + 1]).filter((place) => order.includes(place));
    kept = kept.size ? new Set([...kept, ...beside]) : new Set(order);
    const form = written(tokens, kept);
    rivals = kept.size < order.length ? rivals.filter((other) => fits(form, other)) : [];
  }
  return kept;
}

/**
 * Split a name at its separators.
 * @param {string} name
 * @returns {Tokens}
 */
export function bySeparators(name) {
  const pieces = name.split(SEPARATORS);
  if (pieces.length > 2 * MOST_WORDS) return { words: [name], separators: ["", ""] };
  const words = pieces.filter((_, at) => at % 2 === 0);
  const separators = ["", ...pieces.filter((_, at) => at % 2 === 1), ""];
  if (words.length > 1 && !words[0]) {
    words.shift();
    separators.shift();
  }
  if (words.length > 1 && !words[words.length - 1]) {
    words.pop();
    separators.pop();
  }
  return { words, separators };
}

/**
 * Split a name at its separators, its capitals and its digits.
 * @param {string} name
 * @returns {Tokens}
 */
export function withinWords(name) {
  const { words, separators } = bySeparators(name);
  const parts = words.map((word) => {
    const some = word.split(WITHIN).filter(Boolean);
    return some.length ? some : [word];
  });
  if (parts.flat().length > MOST_WORDS) return { words, separators };
  const between = parts.flatMap((some, place) => some.map((_, at) => (at ? "" : separators[place])));
  return { words: parts.flat(), separators: [...between, separators[separators.length - 1]] };
}

/**
 * The words at these places, with their separators and an ellipsis for what is between; a single letter is kept. Points
 * beside an ellipsis, which would look like more of it, are left out.
 * @param {Tokens} tokens
 * @param {Set<number>} kept
 */
export function written({ words, separators }, kept) {
  let text = "";
  let gap = false;
  words.forEach((word, place) => {
    const narrow = kept.size > 0 && letters(word) === 1
      && (place === 0 || kept.has(place - 1)) && (place === words.length - 1 || kept.has(place + 1));
    if (kept.has(place) || narrow) {
      text += gap ? `${CUT}${afterCut(separators[place])}${word}` : `${separators[place]}${word}`;
      gap = false;
    } else if (!gap) {
      text += place ? beforeCut(separators[place]) : "";
      gap = true;
    }
  });
  return text + (gap ? CUT : separators[separators.length - 1]);
}

/**
 * Whether a name could be meant by a form: whether it is that, with any text for each ellipsis.
 * @param {string} form
 * @param {string} name
 */
export function fits(form, name) {
  const [first, ...rest] = form.split(CUT);
  if (!rest.length) return form === name;
  if (!name.startsWith(first)) return false;
  const last = /** @type {string} */ (rest.pop());
  let at = first.length;
  for (const piece of rest) {
    const found = name.indexOf(piece, at);
    if (found < 0) return false;
    at = found + piece.length;
  }
  return name.length - at >= last.length && name.endsWith(last);
}

/**
 * @param {string} form
 * @param {string[]} names
 */
function fitsAny(form, names) {
  return names.some((name) => fits(form, name));
}

/**
 * The longest sequence of words that both have in this order; of several the first in `one`.
 * @param {string[]} one
 * @param {string[]} other
 */
export function longestCommon(one, other) {
  let next = 0;
  for (const word of other) if (word === one[next]) next += 1;
  if (next === one.length) return one;
  const lengths = Array.from({ length: one.length + 1 }, () => new Array(other.length + 1).fill(0));
  for (let i = one.length - 1; i >= 0; i -= 1) {
    for (let j = other.length - 1; j >= 0; j -= 1) {
      lengths[i][j] = one[i] === other[j] ? 1 + lengths[i + 1][j + 1] : Math.max(lengths[i + 1][j], lengths[i][j + 1]);
    }
  }
  const found = [];
  let [i, j] = [0, 0];
  while (i < one.length && j < other.length) {
    if (one[i] === other[j]) {
      found.push(one[i]);
      [i, j] = [i + 1, j + 1];
    } else if (lengths[i + 1][j] > lengths[i][j + 1]) i += 1;
    else j += 1;
  }
  return found;
}

/**
 * A name cut between any letters, as near its middle as tells it from the others; "" if that is impossible.
 * @param {string} name
 * @param {string[]} others
 * @param {number} room
 * @param {Width} width
 */
function anywhere(name, others, room, width) {
  const every = name.match(LETTER) || [];
  /** @type {(begin: number, end: number) => string} */
  const cut = (begin, end) =>
    `${beforeCut(every.slice(0, begin).join(""))}${CUT}${afterCut(every.slice(every.length - end).join(""))}`;
  let [low, high] = [1, every.length - 1];  // letters that are kept
  while (low < high) {
    const half = Math.floor((low + high + 1) / 2);
    const end = Math.floor(half / 2);
    if (width(cut(half - end, end)) <= room) low = half;
    else high = half - 1;
  }
  const end = Math.floor(low / 2);
  for (let away = 0; away < low; away += 1) {
    for (const begin of new Set([low - end - away, low - end + away])) {
      const form = begin > 0 && begin <= low ? cut(begin, low - begin) : CUT;
      if (form !== CUT && width(form) <= room && !fitsAny(form, others)) return form;
    }
  }
  return "";
}

/**
 * A name of at most `most` letters, more if that is needed to tell it from the others.
 * @param {string} name
 * @param {string[]} names
 * @param {number} most
 */
export function shortened(name, names, most) {
  return new Names([...names, name]).short(name, most);
}

/**
 * A text of at most `most` letters that is shown alone, cut in its middle.
 * @param {string} text
 * @param {number} most
 */
export function middle(text, most) {
  return new Names([text]).short(text, most);
}

/** @type {Map<string, Names>} */
const single = new Map();
const MOST_SINGLE = 5_000;

/**
 * A text that is shown alone, cut to its room; "" if not even two letters fit.
 * @param {string} text
 * @param {number} room
 * @param {Width} width
 */
export function fitted(text, room, width) {
  if (width(text) <= room) return text;
  let names = single.get(text);
  if (!names) {
    if (single.size >= MOST_SINGLE) single.clear();
    names = new Names([text]);
    single.set(text, names);
  }
  const form = names.short(text, room, width);
  return letters(form) > 2 && width(form) <= room ? form : "";
}

/**
 * A text that is shown alone, cut to its room so that it begins as the text does: what a slice is called stands first, and
 * "…_1" of hcom_receive__503_0_1 would read as the number of another. "" if not even three letters fit.
 * @param {string} text
 * @param {number} room
 * @param {Width} width
 */
export function begun(text, room, width) {
  const form = fitted(text, room, width);
  if (!form.startsWith(CUT)) return form;
  const every = text.match(LETTER) || [];
  /** @type {(length: number) => string} */
  const begin = (length) => beforeCut(every.slice(0, length).join("")) + CUT;
  let [low, high] = [1, Math.min(every.length - 1, MOST_BEGUN)];  // letters that are kept
  while (low < high) {
    const half = Math.floor((low + high + 1) / 2);
    if (width(begin(half)) <= room) low = half;
    else high = half - 1;
  }
  return low > 2 && width(begin(low)) <= room ? begin(low) : "";
}
