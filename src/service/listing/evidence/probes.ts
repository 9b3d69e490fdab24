import type { ScannedRecord } from '../../../json/scanned-record.ts';
import type { IdSet } from '../../../lead/id-set.ts';
import type { Position } from '../../pagination/position.ts';
import type { RequestParams } from '../../pagination/request-params.ts';
import type { Peek } from '../fetch/peek.ts';
import type { ProbeReason, WholePage } from '../page-outcome.ts';
import { probeById, probeLastId, probePositions, type ProbeResult, type SilentPage } from './probe.ts';

/** The probes of one walk: they are made once, behind its first page. */
export class Probes {
  readonly #params: RequestParams;
  readonly #peek: Peek;
  readonly #seen: IdSet;
  #page: SilentPage | undefined;
  #isUsed = false;
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
    this.#page ??= { isKnown, count: facts.count, firstId, lastId: facts.lastId, firstMark, size };
  }

  get first(): Pick<SilentPage, 'count' | 'size'> {
    return this.#page ?? { count: 0, size: undefined };
  }

  async run(reason: ProbeReason): Promise<ProbeResult> {
    const page = this.#page;
    if (page === undefined) return { kind: 'no-position', honoursLimit: true };
    const found = await this.#run(reason, page);
    if (found.kind === 'next') this.second = { ...found.position, size: page.size };
    return found;
  }

  async #run(reason: ProbeReason, page: SilentPage): Promise<ProbeResult> {
    if (reason.kind === 'ignored') return probeLastId(this.#params, page, this.#peek, true);
    if (this.#isUsed) return { kind: 'no-position', honoursLimit: true };
    this.#isUsed = true;
    if (reason.kind === 'silent') return probePositions(this.#params, page, this.#peek);
    const position = await probeById(this.#params, reason.id, page, this.#peek);
    return position === undefined ? { kind: 'no-position', honoursLimit: true } : { kind: 'next', position };
  }

  /** A lead that arrived in front may have looked like one behind the offset: then the first page comes again. */
  isIgnored(position: Position, leads: readonly ScannedRecord[]): boolean {
    const page = this.#page;
    if (position !== this.second || position.style !== 'offset' || page?.firstId === undefined) return false;
    // One lead may also have moved there from the first page.
    const known = leads.filter(({ id }) => id !== undefined && page.isKnown(id));
    return known.length * 2 > leads.length && leads.some(({ id }) => id === page.firstId);
  }
}
