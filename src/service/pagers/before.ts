import type { ScannedRecord } from '../../json/scanner.ts';
import { readCreatedAt } from '../../lead/raw-lead.ts';
import { endOf, ask, complete, isSame, unproven } from './pager.ts';
import type { Answer, PageAnswer, Pager, PageRequest, Step } from './pager.ts';
import { start, type Position } from './position.ts';

/** Names under which the id of a lead, or its time, leads to those that come after it in the list. */
export interface BeforeNames {
  readonly ids: readonly string[];
  readonly times: readonly string[];
}

type BeforePosition = Extract<Position, { readonly style: 'before' }>;

/**
 * The leads that follow one of a page, counted from its end: the one before its last, or an earlier one where that has gone.
 * The records after it come again and show that none was passed over.
 */
export function positionBehind(
  { ids, times }: BeforeNames,
  tail: readonly ScannedRecord[],
  back: number,
): BeforePosition | undefined {
  const at = Math.max(0, tail.length - back);
  const id = tail[at]?.id;
  const time = times.length === 0 ? undefined : readCreatedAt((tail[at + 1] ?? tail[at])?.createdAt);
  if (id === undefined || (ids.length === 0 && time === undefined)) return undefined;
  return { style: 'before', ids: [...ids], id, times: time === undefined ? [] : [...times], time };
}

/** The leads that follow another one do not hold it: the parameter is ignored. A time is that of several leads. */
export const namesItself = ({ times, id }: BeforePosition, { head }: PageAnswer): boolean =>
  times.length === 0 && head.some((record) => record.id === id);

/** By the id or the time of the last leads of each page. */
export class BeforePager implements Pager {
  readonly movement = 'anchored';
  readonly #names: BeforeNames;
  readonly #from: Position;
  readonly #overlaps: boolean;
  #tail: readonly ScannedRecord[] = [];
  #back = 2;
  #longest = 0;

  /** With `overlaps`, the last lead of a page comes again. */
  constructor(
    names: BeforeNames,
    { from = start, overlaps = true }: { from?: Position; overlaps?: boolean } = {},
  ) {
    this.#names = names;
    this.#from = from;
    this.#overlaps = overlaps;
  }

  first(): PageRequest {
    return ask(this.#from, this.#from.size);
  }

  again(): Pager {
    return new BeforePager(this.#names, { overlaps: this.#overlaps });
  }

  takes(_: PageRequest, first: ScannedRecord): boolean {
    return this.#tail.length < 2 || !this.#overlaps || this.#tail.some((record) => isSame(record, first));
  }

  next(answer: Answer): Step {
    if (answer.kind === 'rejected')
      return (
        this.#goBack(answer.request.limit) ??
        unproven({ kind: 'rejected-behind', of: answer.error.problem ?? { kind: 'rejected' } })
      );
    const { facts, request, fresh } = answer;
    const isStart = this.#tail.length === 0;
    if (isStart && facts.count === 0)
      return complete(request.position.style === 'start' ? 'empty' : 'nothing-behind');
    if (!isStart && (answer.isLeft || facts.count === 0))
      return this.#goBack(request.limit) ?? unproven({ kind: 'window-apart', param: this.#param() });
    const { position } = request;
    if (position.style === 'before' && fresh === 0 && namesItself(position, answer))
      return unproven({ kind: 'nothing-new' });
    const isFull = facts.count >= this.#longest;
    this.#longest = Math.max(this.#longest, facts.count);
    const evidence = endOf(answer, -1);
    if (evidence !== undefined) return complete(evidence);
    if (!isStart && fresh === 0) {
      if (answer.hints.hasMore === true) return unproven({ kind: 'more-without-leads' });
      return isFull && position.style === 'before' && position.times.length > 0
        ? unproven({ kind: 'window-of-one-time', param: this.#param() })
        : complete('nothing-behind');
    }
    this.#tail = answer.tail;
    this.#back = this.#overlaps ? 2 : 1;
    return this.#askNext(request.limit) ?? unproven({ kind: 'more-without-position' });
  }

  #param(): string {
    return [...this.#names.ids, ...this.#names.times][0] ?? '';
  }

  #askNext(limit: number | undefined): PageRequest | undefined {
    const position = positionBehind(this.#names, this.#tail, this.#back);
    return position === undefined ? undefined : ask(position, limit);
  }

  /** The lead that was named may have gone: another one leads to the same place. */
  #goBack(limit: number | undefined): PageRequest | undefined {
    if (this.#back >= this.#tail.length) return undefined;
    this.#back = Math.min(this.#back * 4, this.#tail.length);
    return this.#askNext(limit);
  }
}
