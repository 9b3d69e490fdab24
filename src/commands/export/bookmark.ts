import * as z from 'zod/mini';
import { createHash } from 'node:crypto';
import { readJsonState, writeJsonState } from '../../files/json-state.ts';
import { readCreatedAt, type RawLead } from '../../lead/raw-lead.ts';
import { expectedAgain, type KnownLead, type LeadQuery } from '../../service/listing-types.ts';

const outputFile = z.object({ bytes: z.int(), form: z.string(), path: z.string() });

/**
 * The file of `--bookmark`: where the next incremental export begins. Times are in ms.
 * - `of`: the service's address and the filters without times: another export must not use this bookmark
 * - `newest`: the creation time of the newest lead that a complete run wrote, or the start of that run if that was earlier
 * - `ids`: pairs of an id and its creation time, of every written lead that was created at `idsSince` or later
 * - `undated`: ids of leads without a readable creation time, which are kept for ever
 * - `file`: the file that the last run wrote with `-o`, which the next one may append to
 */
export const bookmarkSchema = z.object({
  version: z.literal(1),
  of: z.record(z.string(), z.unknown()),
  newest: z.nullable(z.number()),
  idsSince: z.nullable(z.number()),
  ids: z.array(z.tuple([z.string(), z.number()])),
  undated: z.array(z.string()),
  file: z.optional(outputFile),
});

/** A file is known by its length and its form in words, with the columns of CSV: it may have been renamed or copied since. */
export type OutputFile = z.output<typeof outputFile>;

export type Bookmark = z.output<typeof bookmarkSchema>;

export const readBookmark = (path: string): Promise<Bookmark | undefined> =>
  readJsonState(path, bookmarkSchema, 'bookmark');

export const writeBookmark = (path: string, bookmark: Bookmark): Promise<void> =>
  writeJsonState(path, bookmark);

/** A digest of all that decides which leads a run with this bookmark writes. Undefined: there is no bookmark yet. */
export function startDigest(bookmark: Bookmark | undefined): string {
  const { newest = null, idsSince = null, ids = [], undated = [] } = bookmark ?? {};
  return createHash('sha256')
    .update(JSON.stringify([newest, idsSince, ids, undated]))
    .digest('hex');
}

type DatedLead = Pick<RawLead, 'id' | 'createdAt'>;

/** The ids are pruned when so many were added, since a first run would keep those of a whole history. */
const idsBetweenPrunings = 100_000;

/**
 * Decides which leads are new to a run that continues earlier ones. Each walk begins `overlap` (ms) before the newest lead of
 * the last complete walk, and the ids of the written leads since then are kept to drop those that come again. So leads that
 * share a timestamp or come late by less than the overlap are neither lost nor repeated.
 *
 * A run makes it of the bookmark; for the first walk and for each poll it calls `beginWalk`, `remember` for each lead that is
 * written, and `completeWalk`. `bookmark` gives what the next run begins with.
 *
 * Between two calls: `#ids` has the creation times of the written leads, all of those created at `#idsSince` or later, in ms.
 * `#newestWritten` is the newest of them, and becomes `#newest` when a walk is complete: an incomplete walk does not move the
 * window. `#knownLeads` are the leads that were known then: the next walk has to meet some of them again.
 */
export class IncrementalWindow {
  /** Leads created before this were handled by an earlier complete run; ms. Undefined: this is the first run. */
  readonly since: number | undefined;
  readonly #overlap: number;
  readonly #ids = new Map<string, number>();
  #idsSince: number;
  readonly #undated: Set<string>;
  #knownLeads: readonly KnownLead[];
  #newestWritten: number;
  #newest: number | undefined;
  #walkStartedAt = -Infinity;
  #pruneAtSize = idsBetweenPrunings;

  constructor(overlap: number, bookmark?: Bookmark) {
    this.#overlap = overlap;
    this.#newest = bookmark?.newest ?? undefined;
    this.#newestWritten = this.#newest ?? -Infinity;
    this.#idsSince = bookmark?.idsSince ?? -Infinity;
    this.#knownLeads = bookmark?.ids ?? [];
    this.#undated = new Set(bookmark?.undated);
    // A larger overlap than last time reaches no further back than the ids that were kept.
    this.since = this.#newest === undefined ? undefined : Math.max(this.#newest - overlap, this.#idsSince);
    for (const [id, created] of this.#knownLeads) this.#ids.set(id, created);
  }

  *keptIds(): Generator<string> {
    yield* this.#ids.keys();
    yield* this.#undated;
  }

  /** Whether a lead may be new by its time. A lead without a creation time passes: it is known by its id alone. */
  passes(lead: DatedLead): boolean {
    if (this.since === undefined) return true;
    const created = readCreatedAt(lead.createdAt);
    return created === undefined || created >= this.since;
  }

  remember(lead: DatedLead): void {
    const created = readCreatedAt(lead.createdAt);
    if (created !== undefined && created > this.#newestWritten) this.#newestWritten = created;
    if (lead.id === undefined) return;
    if (created === undefined) this.#undated.add(lead.id);
    else this.#ids.set(lead.id, created);
    if (this.#ids.size >= this.#pruneAtSize) this.#prune();
  }

  beginWalk(now: number): void {
    this.#walkStartedAt = now;
  }

  expectedIds(query: LeadQuery): readonly string[] {
    return expectedAgain(this.#knownLeads, query);
  }

  completeWalk(): void {
    const newest = this.#newestPlausible();
    if (newest !== undefined) this.#newest = Math.max(newest, this.#newest ?? -Infinity);
    this.#knownLeads = [...this.#ids];
  }

  get pollSince(): number | undefined {
    return this.#newest === undefined ? undefined : this.#newest - this.#overlap;
  }

  /** `account`: the service and the filters that the bookmark belongs to. */
  bookmark(account: Readonly<Record<string, unknown>>): Bookmark {
    this.#prune();
    return {
      version: 1,
      of: account,
      newest: this.#newest ?? null,
      idsSince: this.#newest === undefined ? null : this.#idsSince,
      ids: [...this.#ids],
      undated: [...this.#undated],
    };
  }

  /** A lead dated after the walk's start, by a wrong clock, must not move the window past leads that are still to come. */
  #newestPlausible(): number | undefined {
    const newest = Math.min(this.#newestWritten, this.#walkStartedAt);
    return newest === -Infinity ? undefined : newest;
  }

  /** Forgets the ids of leads that are too old to be asked for again. */
  #prune(): void {
    const newest = this.#newest ?? this.#newestPlausible();
    if (newest === undefined) return;
    const oldestKept = newest - this.#overlap;
    this.#idsSince = Math.max(this.#idsSince, oldestKept);
    for (const [id, created] of this.#ids) if (created < oldestKept) this.#ids.delete(id);
    this.#pruneAtSize = 2 * this.#ids.size + idsBetweenPrunings;
  }
}
