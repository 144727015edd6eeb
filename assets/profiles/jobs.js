// The profiles of a catalogue by their jobs (layouts/profiles/catalogue.py), and which of them is asked for. A job may have
// 10,000 ranks, so the lists are made once for each catalogue, and all that follows a choice takes one walk over a job at most.

const books = new WeakMap();

const at = (column, place) => Array.isArray(column) ? column[place] : column;

/** The name of a profile in the state: run, session and rank. */
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

function makeBook({ runs, jobs: listed, kinds }) {
  const jobs = new Map();
  const all = [];
  const named = new Map();
  for (const told of listed) {
    const { name, title, updated, whole } = told;
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

/** The profiles of one job by rank. */
export const ranksOf = (book, name) => book.jobs.get(name)?.members || [];

/**
 * Of all profiles the one asked for by run, session and rank. By default the newest job that serves the page, and its lowest
 * rank that does; a rank that the job has stands above a session, which names one of its directories.
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
  const newest = (a, b) => Number(b[1]) - Number(a[1]) || book.jobs.get(b[0]).updated - book.jobs.get(a[0]).updated;
  const name = named ? named.profile.job : [...own].sort(newest)[0][0];
  let best = null;
  let most = -1;
  for (const one of book.jobs.get(name).members) {
    const asked = rank !== "" && String(one.profile.rank) === rank;
    const here = named && one.run === first.run && one.profile.session === session;
    const points = (asked ? 4 : 0) + (here ? 2 : 0) + (serving(one.profile) ? 1 : 0);
    if (points > most) [best, most] = [one, points];
  }
  return best;
}

/** What to call the runs of jobs in a choice: [[key of the run, name], ...], one for each run that leads a job. */
export function runsOf(book) {
  const names = new Map();
  for (const { title, members } of book.jobs.values()) {
    const { run } = members[0];
    const spans = members.some((one) => one.run !== run);
    names.set(run.key, spans ? title : run.name);
  }
  return [...names];
}
