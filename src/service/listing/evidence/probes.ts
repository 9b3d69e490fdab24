import type { ScannedRecord } from '../../../json/scanned-record.ts';
import type { IdSet } from '../../../lead/id-set.ts';
import { hintsOf } from '../../pagination/next-page.ts';
import type { PageFacts } from '../../pagination/page-facts.ts';
import type { Position } from '../../pagination/position.ts';
import type { RequestParams } from '../../pagination/request-params.ts';
import type { Peek } from '../fetch/peek.ts';
import type { ProbeReason, WholePage } from '../page-outcome.ts';
import { compare, isInFront, type SilentPage } from './compare-pages.ts';
import { looksFull } from './full-page.ts';
import { probeById, probePositions, probeRest, type ProbeResult, type RestOfProbes } from './probe.ts';

const nothingFound: ProbeResult = {
  kind: 'no-position',
  honoursLimit: true,
  isRejected: false,
  isCut: false,
};

/** The probes of one walk: they are made once, behind its first page. */
export class Probes {
  readonly #params: RequestParams;
  readonly #peek: Peek;
  readonly #seen: IdSet;
  #page: SilentPage | undefined;
  #isUsed = false;
  #rest: RestOfProbes = { last: 'last-id', honoursLimit: true, isRejected: false, isCut: false };
  #isFirst = false;
  /** Where the second page begins: the first page does not say. */
  second: Position | undefined;

  constructor(params: RequestParams, peek: Peek, seen: IdSet) {
    this.#params = params;
    this.#peek = peek;
    this.#seen = seen;
  }

  /** Remembers the first page, with the page size that was sent. */
  noteFirst({ facts, firstId, firstMark }: WholePage, size: number | undefined): void {
    // A walk that is resumed, or reads the list again, knows the leads of other pages, too.
    const { pass } = this.#seen;
    const isKnown = (id: string): boolean => this.#seen.isMetSince(id, pass);
    const { pageSize: shownSize } = hintsOf(this.#params, facts);
    this.#page ??= { isKnown, count: facts.count, firstId, lastId: facts.lastId, firstMark, size, shownSize };
  }

  get first(): Pick<SilentPage, 'count' | 'size' | 'shownSize'> {
    return this.#page ?? { count: 0, size: undefined, shownSize: undefined };
  }

  async run(reason: ProbeReason): Promise<ProbeResult> {
    const page = this.#page;
    if (page === undefined) return nothingFound;
    const found = await this.#limited(await this.#run(reason, page), page);
    if (found.kind === 'next') {
      this.second = { ...found.position, size: page.size };
      this.#rest = found.rest ?? this.#rest;
      this.#isFirst = found.isFirst === true;
    }
    return found;
  }

  /** An offset that was rejected says nothing of the limit of 1 that was sent with it, which a full page depends on. */
  async #limited(found: ProbeResult, page: SilentPage): Promise<ProbeResult> {
    if (found.kind !== 'no-position' || !found.isRejected || !looksFull(page.count, page.size)) return found;
    const one = await this.#peek({ style: 'start' }, 1, true);
    return { ...found, honoursLimit: one.kind === 'page' && one.count === 1 && page.count > 1 };
  }

  async #run(reason: ProbeReason, page: SilentPage): Promise<ProbeResult> {
    if (reason.kind === 'ignored') return probeRest(this.#params, page, this.#peek, this.#rest);
    if (this.#isUsed) return nothingFound;
    this.#isUsed = true;
    if (reason.kind === 'silent') return probePositions(this.#params, page, this.#peek);
    const position = await probeById(this.#params, reason.id, page, this.#peek);
    return position === undefined ? nothingFound : { kind: 'next', position };
  }

  /**
   * The first page's number where leads are missing in front of the second one: as many leads as a page holds may have
   * arrived, and made the second page look like the first.
   */
  recount(position: Position): number | undefined {
    const { firstPage } = this.#params;
    if (this.second?.style !== 'page' || position.style !== 'page') return undefined;
    if (this.second.page !== firstPage + 1 || position.page !== this.second.page) return undefined;
    this.second = { ...this.second, page: firstPage };
    return firstPage - 1;
  }

  /** The second page, as it stands behind this reading of the first one: the list may have moved since the probes. */
  secondBehind({ count, lastId }: PageFacts): Position | undefined {
    if (this.#isFirst && this.second?.style === 'page')
      this.second = { ...this.second, page: this.second.page + 1 };
    this.#isFirst = false;
    if (this.second !== undefined && lastId !== undefined) this.second = behind(this.second, count, lastId);
    return this.second;
  }

  /**
   * A lead that arrived in front may have looked like one behind the offset: then the first page comes again. A lead of
   * the first page that moved behind the offset is no sign of that: most of the others are new then.
   */
  isIgnored(position: Position, leads: readonly ScannedRecord[]): boolean {
    const page = this.#page;
    if (position !== this.second || position.style !== 'offset' || page?.firstId === undefined) return false;
    const ids = leads.map(({ id }) => id);
    const found = compare(page, { kind: 'page', count: ids.length, ids, firstMark: '' });
    if (found === 'cut') this.#rest = { ...this.#rest, isCut: true };
    return (found === 'same' || found === 'cut') && isInFront(page, this.#rest.probed, ids);
  }
}

function behind(second: Position, count: number, after: string): Position {
  if (second.style === 'page') return { ...second, after };
  if (second.style === 'cursor') return { ...second, cursor: after };
  if (second.style !== 'offset') return second;
  return count < 2 ? { ...second, offset: count, after: undefined } : { ...second, offset: count - 1, after };
}
