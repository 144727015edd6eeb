// The profiles of a catalogue by their jobs (layouts/profiles/catalogue.py), and which of them is asked for. A job may have
// 10,000 ranks, so the lists are made once for each catalogue, and all that follows a choice takes one walk over a job at most.

/** @type {WeakMap<Wire.ProfileCatalogue, Profiles.Book>} */
const books = new WeakMap();

/**
 * A column of a job: a list, or what all are alike.
 * @template Value
 * @param {Value | Value[]} column
 * @param {number} place
 * @returns {Value}
 */
const at = (column, place) => Array.isArray(column) ? column[place] : column;

/**
 * The name of a profile in the state: run, session and rank.
 * @param {Profiles.Entry} entry
 */
export const nameOf = ({ run, profile }) => `${run.key}|${profile.session}|${profile.rank}`;

/**
 * The jobs of a catalogue with their profiles ({ run, profile }) by rank, all of these, and those by name.
 * @param {Wire.ProfileCatalogue} catalogue
 */
export function bookOf(catalogue) {
  let book = books.get(catalogue);
  if (!book) books.set(catalogue, book = makeBook(catalogue));
  return book;
}

/**
 * @param {Wire.ProfileCatalogue} catalogue
 * @returns {Profiles.Book}
 */
function makeBook({ runs, jobs: listed, kinds }) {
  /** @type {Map<string, Profiles.Job>} */
  const jobs = new Map();
  /** @type {Profiles.Entry[]} */
  const all = [];
  /** @type {Map<string, Profiles.Entry>} */
  const named = new Map();
  for (const told of listed) {
    const { name, title, updated, whole } = told;
    /** @type {Profiles.Job} */
    const job = { name, title, updated, whole, members: [], byRank: new Map() };
    for (const [place, rank] of told.rank.entries()) {
      const profile = {
        ...kinds[at(told.kind, place)], rank, session: at(told.session, place), mark: at(told.mark, place), job: name, title,
        whole,
      };
      const entry = { run: runs[at(told.run, place)], profile };
      job.members.push(entry);
      job.byRank.set(rank, entry);
      named.set(nameOf(entry), entry);
      all.push(entry);
    }
    jobs.set(name, job);
  }
  return { jobs, all, named };
}

/**
 * The profiles of one job by rank.
 * @param {Profiles.Book} book
 * @param {string} name
 */
export const ranksOf = (book, name) => book.jobs.get(name)?.members || [];

/**
 * Of all profiles the one asked for by run, session and rank. By default the newest job that serves the page, and its lowest
 * rank that does; a rank that the job has stands above a session, which names one of its directories.
 * @param {Profiles.Book} book
 * @param {{ of: string, session: string, rank: string }} options
 * @param {(profile: Profiles.Profile) => boolean} serving
 */
export function chosenOf(book, { of, session, rank }, serving) {
  const first = book.all.find((one) => one.run.key === of) || book.all.find((one) => serving(one.profile)) || book.all[0];
  if (!first) return null;
  const own = new Map();  // name of a job -> whether a profile of it in this run serves
  let named = null;
  for (const one of book.all) {
    if (one.run !== first.run) continue;
    if (!named && one.profile.session === session) named = one;
    if (!own.get(one.profile.job)) own.set(one.profile.job, serving(one.profile));
  }
  /** @param {string} job */
  const updated = (job) => book.jobs.get(job)?.updated || 0;
  /**
   * @param {[string, boolean]} a
   * @param {[string, boolean]} b
   */
  const newest = (a, b) => Number(b[1]) - Number(a[1]) || updated(b[0]) - updated(a[0]);
  const name = named ? named.profile.job : [...own].sort(newest)[0][0];
  let best = null;
  let most = -1;
  for (const one of ranksOf(book, name)) {
    const asked = rank !== "" && String(one.profile.rank) === rank;
    const here = named && one.run === first.run && one.profile.session === session;
    const points = (asked ? 4 : 0) + (here ? 2 : 0) + (serving(one.profile) ? 1 : 0);
    if (points > most) [best, most] = [one, points];
  }
  return best;
}

/**
 * What to call the runs of jobs in a choice: [[key of the run, name], ...], one for each run that leads a job.
 * @param {Profiles.Book} book
 */
export function runsOf(book) {
  const names = new Map();
  for (const { title, members } of book.jobs.values()) {
    const { run } = members[0];
    const spans = members.some((one) => one.run !== run);
    names.set(run.key, spans ? title : run.name);
  }
  return [...names];
}
