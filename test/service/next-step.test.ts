import { describe, expect, it } from 'vitest';
import type { Json } from '../../src/json/exact.ts';
import { requestParamsOf } from '../../src/service/pagination/request-params.ts';
import type { Position } from '../../src/service/pagination/position.ts';
import { decideNextStep, type Step } from '../../src/service/listing/decide-next-or-complete.ts';
import {
  askedFor,
  initialState,
  inNextPass,
  type WalkState,
  type WholePage,
  withAnswer,
} from '../../src/service/listing/walk-state.ts';
import { totalsFrom } from '../../src/service/listing/passes.ts';

const url = new URL('https://service.example');
const front: Position = { style: 'start' };
const beside = { movement: undefined, second: undefined, now: 0, requests: 1 };

/** A page of so many new leads, with what the answer says beside them. */
const page = (count: number, says: { readonly [key: string]: Json }, isFirst = false): WholePage => ({
  kind: 'page',
  facts: {
    asked: url,
    url,
    status: 200,
    headers: {},
    envelope: { root: { data: [], ...says }, path: ['data'] },
    count,
    lastId: 'last',
  },
  covers: { count, lastId: 'last' },
  leads: [],
  tally: { identified: count, fresh: count, earlier: 0, repeated: 0, withoutId: 0 },
  bringsNew: true,
  firstId: 'first',
  firstMark: `first of ${JSON.stringify(says)}`,
  lastMark: 'last',
  size: undefined,
  isFirst,
});

const before: WalkState = initialState(requestParamsOf(url, {}), front, false, totalsFrom());
const after = (...pages: readonly (readonly [Position, WholePage])[]): WalkState =>
  pages.reduce((seen, [position, read]) => withAnswer(askedFor(seen, position), read, beside), before);
const second: Position = { style: 'page', param: 'page', page: 2 };

describe('the next step', () => {
  it.each<readonly [string, WalkState, Step]>([
    ['of a walk that has seen nothing is its first page', before, { kind: 'page', position: front }],
    [
      'is the page that an answer names',
      after([front, page(3, { next_cursor: 'abc' }, true)]),
      { kind: 'page', position: { style: 'cursor', param: 'cursor', cursor: 'abc' } },
    ],
    [
      'is a probe where an answer says nothing',
      after([front, page(3, {}, true)]),
      { kind: 'probe', reason: { kind: 'silent' } },
    ],
    [
      'is the end where the answer says so',
      after([front, page(3, { has_more: false }, true)]),
      { kind: 'end', completion: { kind: 'complete', evidence: 'explicit-end' } },
    ],
    [
      'is no end where the service counts more than came',
      after([front, page(3, { has_more: false, total: 7 }, true)]),
      { kind: 'end', completion: { kind: 'unproven', reason: { kind: 'total-not-met', total: 7, met: 3 } } },
    ],
    [
      'is no such end where all readings together gave what it counts: the list has moved',
      withAnswer(
        inNextPass(after([front, page(4, { total: 7 }, true)]), totalsFrom()),
        page(3, { has_more: false, total: 7 }, true),
        beside,
      ),
      { kind: 'end', completion: { kind: 'unproven', reason: { kind: 'list-kept-moving' } } },
    ],
    [
      'behind an empty page of a list that ends there is the end',
      after([front, page(3, { page: 1 }, true)], [second, page(0, { page: 2 })]),
      { kind: 'end', completion: { kind: 'complete', evidence: 'nothing-behind' } },
    ],
    [
      'is unproven where an empty page stands among others',
      after([front, page(3, { page: 1, pages: 4 }, true)], [second, page(0, { page: 2, pages: 4 })]),
      { kind: 'end', completion: { kind: 'unproven', reason: { kind: 'empty-page', page: 2, pages: 4 } } },
    ],
  ])('%s', (_, seen, expected) => {
    expect(decideNextStep(seen)).toMatchObject(expected);
    // It changes nothing of what was seen.
    expect(decideNextStep(seen)).toEqual(decideNextStep(seen));
  });
});
