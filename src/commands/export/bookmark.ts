import * as z from 'zod/mini';
import { createHash } from 'node:crypto';
import { readJsonState, writeJsonState } from '../../files/json-state.ts';
import { readCreatedAt, type RawLead } from '../../lead/raw-lead.ts';
import { expectedAgain, type KnownLead, type LeadQuery } from '../../service/listing-types.ts';

const outputFile = z.object({
  bytes: z.int(),
  /** Its format in words, with the columns of CSV. */
  form: z.string(),
});

export const bookmarkSchema = z.object({
  version: z.literal(1),
  /** The service's address and the filters without times: another export must not use this bookmark. */
  of: z.record(z.string(), z.unknown()),
  /** Creation time of the newest lead that a complete run wrote, or the start of that run if that was earlier; ms. */
  newest: z.nullable(z.number()),
  /** `ids` holds every lead written that was created at this time or later; ms. */
  idsSince: z.nullable(z.number()),
  /** Pairs of an id and its creation time in ms. */
  ids: z.array(z.tuple([z.string(), z.number()])),
  /** Ids of leads without a readable creation time: they never fall out of the window. */
  undated: z.array(z.string()),
  /** The last run wrote this file with `-o`: the next one may append to it. */
  file: z.optional(outputFile),
});

/** A file that a run wrote, known by its length and form: it may have been renamed or copied since. */
export type OutputFile = z.output<typeof outputFile>;

export type Bookmark = z.output<typeof bookmarkSchema>;

export const readBookmark = (path: string): Promise<Bookmark | undefined> =>
  readJsonState(path, bookmarkSchema, 'bookmark');

export const writeBookmark = (path: string, bookmark: Bookmark): Promise<void> =>
  writeJsonState(path, bookmark);

/** A digest of what decides which leads a run writes that begins there; undefined: there is no bookmark yet. */
export function startOf(bookmark: Bookmark | undefined): string {
  const { newest = null, idsSince = null, ids = [], undated = [] } = bookmark ?? {};
  return createHash('sha256')
    .update(JSON.stringify([newest, idsSince, ids, undated]))
    .digest('hex');
}

type Dated = Pick<RawLead, 'id' | 'createdAt'>;

/**
 * The memory of incremental runs: the ids of the written leads that a later run will get again, because it begins `overlap` (ms)
 * before the newest one. So leads that share a timestamp or come late by less are neither lost nor repeated.
 */
export class IncrementalWindow {
  /** Leads created before this were handled by an earlier complete run; ms. */
  readonly since: number | undefined;
  readonly #overlap: number;
  readonly #ids = new Map<string, number>();
  readonly #undated: Set<string>;
  /** The leads of the last complete walk. */
  #before: readonly KnownLead[];
  #idsSince: number;
  /** Newest creation time of all leads so far, and of those that complete walks brought; ms. */
  #newestSeen: number;
  #newest: number | undefined;
  #walkStartedAt = -Infinity;
  #pruneAt = 100_000;

  constructor(overlap: number, bookmark?: Bookmark) {
    this.#overlap = overlap;
    this.#newest = bookmark?.newest ?? undefined;
    this.#newestSeen = this.#newest ?? -Infinity;
    this.#idsSince = bookmark?.idsSince ?? -Infinity;
    this.#before = bookmark?.ids ?? [];
    this.#undated = new Set(bookmark?.undated);
    // A larger overlap than last time reaches no further back than the ids that were kept.
    this.since = this.#newest === undefined ? undefined : Math.max(this.#newest - overlap, this.#idsSince);
    for (const [id, created] of bookmark?.ids ?? []) this.#ids.set(id, created);
  }

  *ids(): Generator<string> {
    yield* this.#ids.keys();
    yield* this.#undated;
  }

  /** A lead without a creation time passes: it is known by its id alone. */
  passes(lead: Dated): boolean {
    if (this.since === undefined) return true;
    const created = readCreatedAt(lead.createdAt);
    return created === undefined || created >= this.since;
  }

  remember(lead: Dated): void {
    const created = readCreatedAt(lead.createdAt);
    if (created !== undefined && created > this.#newestSeen) this.#newestSeen = created;
    if (lead.id === undefined) return;
    if (created === undefined) this.#undated.add(lead.id);
    else this.#ids.set(lead.id, created);
    if (this.#ids.size >= this.#pruneAt) this.#prune();
  }

  beginWalk(now: number): void {
    this.#walkStartedAt = now;
  }

  expectedIds(query: LeadQuery): readonly string[] {
    return expectedAgain(this.#before, query);
  }

  completeWalk(): void {
    const newest = this.#newestPlausible();
    if (newest !== undefined) this.#newest = Math.max(newest, this.#newest ?? -Infinity);
    this.#before = [...this.#ids];
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
    const newest = Math.min(this.#newestSeen, this.#walkStartedAt);
    return newest === -Infinity ? undefined : newest;
  }

  #prune(): void {
    const newest = this.#newest ?? this.#newestPlausible();
    if (newest === undefined) return;
    const from = newest - this.#overlap;
    this.#idsSince = Math.max(this.#idsSince, from);
    for (const [id, created] of this.#ids) if (created < from) this.#ids.delete(id);
    this.#pruneAt = 2 * this.#ids.size + 100_000;
  }
}
