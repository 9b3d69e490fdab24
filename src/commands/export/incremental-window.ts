import { readCreatedAt } from '../../lead/created-at.ts';
import type { Bookmark } from './bookmark.ts';
import type { RawLead } from '../../lead/raw-lead.ts';
import type { Completion } from '../../service/listing/incomplete-error.ts';
import type { LeadQuery, RunBefore } from '../../service/listing/listing-types.ts';
import { RunMemory } from '../../service/listing/run-memory.ts';

type Dated = Pick<RawLead, 'id' | 'createdAt'>;

/**
 * What incremental runs remember: the ids of the written leads that a later run will get again, because it begins
 * `overlap` before the newest one. So leads that share a timestamp or come late by less are neither lost nor repeated.
 */
export class IncrementalWindow {
  /** Leads created before this were handled by an earlier complete run; ms. */
  readonly since: number | undefined;
  readonly #overlap: number;
  readonly #ids = new Map<string, number>();
  readonly #undated: Set<string>;
  /** Of the last complete walk. */
  readonly #memory: RunMemory;
  #idsSince: number;
  /** Newest creation time of all leads so far, and of those that complete walks brought; ms. */
  #newestSeen: number;
  #newest: number | undefined;
  #walkStartedAt = -Infinity;
  #pruneAt = 100_000;

  /** `overlap` in milliseconds. */
  constructor(overlap: number, bookmark?: Bookmark) {
    this.#overlap = overlap;
    this.#newest = bookmark?.newest ?? undefined;
    this.#newestSeen = this.#newest ?? -Infinity;
    this.#idsSince = bookmark?.idsSince ?? -Infinity;
    this.#memory = new RunMemory(bookmark?.ids, bookmark?.provenUpTo);
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

  /** Remembers a lead that was written. */
  remember(lead: Dated): void {
    const created = readCreatedAt(lead.createdAt);
    if (created !== undefined && created > this.#newestSeen) this.#newestSeen = created;
    if (lead.id === undefined) return;
    if (created === undefined) this.#undated.add(lead.id);
    else this.#ids.set(lead.id, created);
    if (this.#ids.size >= this.#pruneAt) this.#prune();
  }

  /** `now` in ms. */
  beginWalk(now: number): void {
    this.#walkStartedAt = now;
  }

  /** What a walk with this query has to meet again. */
  runBefore(query: LeadQuery): RunBefore {
    return this.#memory.before(query);
  }

  /** The walk reached its end: the window may move past the leads that it brought. */
  completeWalk(end: Completion | undefined): void {
    const newest = this.#newestPlausible();
    if (newest !== undefined) this.#newest = Math.max(newest, this.#newest ?? -Infinity);
    this.#memory.keep(this.#ids, end);
  }

  /** How far back the next poll of this run reaches; ms. */
  get pollSince(): number | undefined {
    return this.#newest === undefined ? undefined : this.#newest - this.#overlap;
  }

  /** What the next run needs; `of` says which service and filters it belongs to. */
  bookmark(of: Readonly<Record<string, unknown>>): Bookmark {
    this.#prune();
    return {
      version: 2,
      of,
      newest: this.#newest ?? null,
      idsSince: this.#newest === undefined ? null : this.#idsSince,
      ids: [...this.#ids],
      undated: [...this.#undated],
      provenUpTo: this.#memory.provenUpTo,
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
