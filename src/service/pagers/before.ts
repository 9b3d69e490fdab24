import type { ScannedRecord } from '../../json/scanned-record.ts';
import { readCreatedAt } from '../../lead/raw-lead.ts';
import {
  ask,
  complete,
  isSame,
  moreWithoutLeads,
  moreWithoutPosition,
  nothingNew,
  rejectedBehind,
  unproven,
} from './pager.ts';
import type { PageAnswer, Pager, PageRequest, PagerAnswer, PagerStep, Unproven } from './pager.ts';
import { start, type Position } from './position.ts';

/** Names under which the id of a lead, or its time, leads to those that come after it in the list. */
export interface BeforeNames {
  readonly ids: readonly string[];
  readonly times: readonly string[];
}

type BeforePosition = Extract<Position, { readonly style: 'before' }>;

/**
 * The position of the leads that follow one of a page, which is the record number `back` from its end: with 2, the last record comes
 * once more and shows that none was passed over. A time is that of the next record: `pageUrl` sends it 1 ms or 1 s later, so that this
 * record comes once more also from a service that excludes the time itself.
 * Undefined where that record has no id, or none of the names can take what it has.
 */
export function positionAfter(
  { ids, times }: BeforeNames,
  tail: readonly ScannedRecord[],
  back: number,
): BeforePosition | undefined {
  const index = Math.max(0, tail.length - back);
  const id = tail[index]?.id;
  const time = times.length === 0 ? undefined : readCreatedAt((tail[index + 1] ?? tail[index])?.createdAt);
  if (id === undefined || (ids.length === 0 && time === undefined)) return undefined;
  return { style: 'before', ids: [...ids], id, times: time === undefined ? [] : [...times], time };
}

/** An answer with the lead after which it was asked for shows that an id is ignored. A time is not: several leads may have it. */
export const namesItself = ({ times, id }: BeforePosition, { head }: PageAnswer): boolean =>
  times.length === 0 && head.some((record) => record.id === id);

/** The lead may have gone with many others: each try goes back further by this factor. */
const growthOfStep = 4;

const windowApart = (param: string): Unproven =>
  unproven(`an answer to '${param}' does not begin with the lead that the one before it ended with`);

const windowOfOneTime = (param: string): Unproven =>
  unproven(`the leads of a full answer to '${param}' do not become older, so that no time leads past them`);

type JudgeLonePage = (first: PageAnswer) => PagerStep;

/**
 * Asks for the leads after one of those that were read, by its id or its time. Where pages may overlap, the next page has to begin with
 * a record of the last one, `#tail`.
 *
 * - `#back`: from which record of `#tail` the next request starts, counted from its end; larger, where that record has gone
 * - `#longest`: the length of the longest page. A shorter one ends the list; one as long, without a new lead, may be cut among leads of
 *   one time, which no time leads past
 * - `#loneLead`: the first page, where it has one lead and nothing else was read. The request after that lead cannot show whether the
 *   position works, since no lead has to come once more: `#judgeLonePage` decides by the page itself
 */
export class BeforePager implements Pager {
  readonly movement = 'anchored';
  readonly #names: BeforeNames;
  readonly #overlaps: boolean;
  readonly #from: Position;
  #tail: readonly ScannedRecord[] = [];
  #back = 2;
  #longest = 0;
  readonly #judgeLonePage: JudgeLonePage | undefined;
  #loneLead: PageAnswer | undefined;

  constructor(names: BeforeNames, overlaps: boolean, from: Position = start, judge?: JudgeLonePage) {
    this.#names = names;
    this.#overlaps = overlaps;
    this.#from = from;
    this.#judgeLonePage = judge;
  }

  first(): PageRequest {
    return ask(this.#from, this.#from.size);
  }

  restarted(): Pager {
    return new BeforePager(this.#names, this.#overlaps, start, this.#judgeLonePage);
  }

  accepts(_: PageRequest, first: ScannedRecord): boolean {
    return this.#tail.length < 2 || !this.#overlaps || this.#tail.some((record) => isSame(record, first));
  }

  next(answer: PagerAnswer): PagerStep {
    if (answer.kind === 'rejected') return this.#goBack(answer.request.limit) ?? rejectedBehind(answer);
    const { facts, request, fresh, isSkipped, hints } = answer;
    const { position, limit } = request;
    const isFirst = this.#tail.length === 0;
    const [param = ''] = [...this.#names.ids, ...this.#names.times];
    if (isFirst && facts.count === 0)
      return complete(position.style === 'start' ? 'empty' : 'nothing-behind');
    if (!isFirst && (isSkipped || facts.count === 0))
      return this.#goBack(limit) ?? this.#endOfLoneLead(answer) ?? windowApart(param);
    if (position.style === 'before' && fresh === 0 && namesItself(position, answer)) return nothingNew;
    const isFull = facts.count >= this.#longest;
    this.#longest = Math.max(this.#longest, facts.count);
    if (hints.hasMore === false) return complete('explicit-end');
    if (!isFirst && fresh === 0) {
      if (hints.hasMore === true) return moreWithoutLeads;
      const isOneTime = isFull && position.style === 'before' && position.times.length > 0;
      return isOneTime ? windowOfOneTime(param) : complete('nothing-behind');
    }
    this.#loneLead = isFirst && position.style === 'start' && facts.count === 1 ? answer : undefined;
    this.#tail = answer.tail;
    this.#back = this.#overlaps ? 2 : 1;
    return this.#askNext(limit) ?? moreWithoutPosition;
  }

  #endOfLoneLead({ hints: { hasMore, total = 0 }, isSkipped }: PageAnswer): PagerStep | undefined {
    if (this.#loneLead === undefined || hasMore === true || total > 1 || isSkipped) return undefined;
    const step = this.#judgeLonePage?.(this.#loneLead);
    return step?.kind === 'complete' ? step : undefined;
  }

  #askNext(limit: number | undefined): PageRequest | undefined {
    const position = positionAfter(this.#names, this.#tail, this.#back);
    return position && ask(position, limit);
  }

  /** The lead that was named may have gone: an earlier one leads to the same place. */
  #goBack(limit: number | undefined): PageRequest | undefined {
    if (this.#back >= this.#tail.length) return undefined;
    this.#back = Math.min(this.#back * growthOfStep, this.#tail.length);
    return this.#askNext(limit);
  }
}
