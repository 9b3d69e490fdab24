import { describe, expect, it } from 'vitest';
import {
  type BatchItem,
  type BatchContext,
  decide,
  keysOf,
  type StoredState,
  rejectItem,
  takeItem,
} from '../../src/inbox/decide.ts';
import { sha256 } from '../../src/json/bytes.ts';
import { rejection } from '../../src/webhook/delivery-answer.ts';
import { arrivalOf, deliveryOf } from './support.ts';

const redact = {
  path: ({ path }: { readonly path: string }) => path,
  headers: () => [],
};
const context: BatchContext = {
  ...{ seq: 10, now: 1000, claimMs: 60, noncesNow: 500, nonceLifetimeMs: 100 },
  ...{ targets: ['app'], storedName: (target) => `stored ${target}` },
};
const nothing: StoredState = {
  leads: new Map(),
  nonces: new Map(),
  erased: new Map(),
  payloads: new Map(),
  unpushed: new Set(),
};
const item = (...arrivals: Parameters<typeof takeItem>[0]): BatchItem => takeItem(arrivals, redact);
const bodyOf = (text: string) => Buffer.from(text);
const lead = (id: string, more: object = {}) => arrivalOf({ id, ...more });
const stored = (text: string, attempts = 1) => ({
  seq: 3,
  firstAt: 7,
  attempts,
  digest: sha256(bodyOf(text)),
});

describe('a batch', () => {
  it('numbers what it takes in the order in which it came, behind the last number', () => {
    const { results, seq, leads } = decide([item(lead('a')), item(lead('b'), lead('c'))], nothing, context);
    expect(results.map((some) => some.map((one) => 'seq' in one && one.seq))).toEqual([[11], [12, 13]]);
    expect(seq).toBe(13);
    expect(leads.map(([id, number]) => [id, number])).toEqual([
      ['a', 11],
      ['b', 12],
      ['c', 13],
    ]);
  });

  it('has a lead due for each target, and for none where it came before', () => {
    const first = { ...lead('a'), claimed: ['app'] };
    const { forwards, leads, repeated } = decide([item(first), item(lead('a'))], nothing, context);
    expect(forwards).toEqual([['a', 'stored app', 11, 11, 'waiting', 1, 1, 1000, 1000, 1060]]);
    expect(leads.map((row) => row[3])).toEqual([2]);
    expect(repeated.size).toBe(0);
    const waiting = decide([item(lead('a'))], nothing, context);
    expect(waiting.forwards).toEqual([['a', 'stored app', 11, 11, 'waiting', 0, 0, 1000, 1000, 0]]);
  });

  it('counts further deliveries of a lead that came before, and compares the first payload where it has it', () => {
    const before = '{"id":"a","n":1}';
    const known = {
      ...nothing,
      leads: new Map([['a', stored(before, 4)]]),
      payloads: new Map([[3, bodyOf(before)]]),
    };
    const batch = [item(lead('a', { n: 2 })), item(lead('a', { n: 1 }))];
    expect(keysOf(batch).leads).toEqual(new Set(['a']));
    const { results, repeated, leads, forwards } = decide(batch, known, context);
    expect(results).toMatchObject([
      [{ kind: 'duplicate', attempt: 5, firstAt: 7, differs: ['n'] }],
      [{ kind: 'duplicate', attempt: 6, firstAt: 7, differs: undefined }],
    ]);
    expect([...repeated]).toEqual([['a', 6]]);
    expect([leads, forwards]).toEqual([[], []]);
    const unread = decide(batch.slice(0, 1), { ...known, payloads: new Map() }, context);
    expect(unread.results).toMatchObject([[{ differs: ['*'] }]]);
  });

  it('compares payloads by what they mean, and names the fields in the order of their first place', () => {
    const [before, same] = ['{"n":1,"id":"a","m":0}', '{ "m": 0.0, "n": 1, "id": "\\u0061" }'];
    const known = {
      ...nothing,
      leads: new Map([['a', stored(before)]]),
      payloads: new Map([[3, bodyOf(before)]]),
    };
    const other = { ...lead('a'), delivery: deliveryOf('{"id":"a","n":2}') };
    const spelled = { ...lead('a'), delivery: deliveryOf(same) };
    expect(decide([item(other), item(spelled)], known, context).results).toMatchObject([
      [{ kind: 'duplicate', attempt: 2, differs: ['n', 'm'] }],
      [{ kind: 'duplicate', attempt: 3, differs: undefined }],
    ]);
  });

  it('has a lead that an audit had stored for no target due at its first push, and not again', () => {
    const known = { ...nothing, leads: new Map([['a', stored('{"id":"a"}')]]), unpushed: new Set(['a']) };
    const fetched = { ...lead('a'), source: 'backfill' as const };
    expect(decide([item(fetched)], known, context).forwards).toEqual([]);
    const pushed = decide([item({ ...lead('a'), claimed: ['app'] }), item(lead('a'))], known, context);
    expect(pushed.results.flat().map(({ kind }) => kind)).toEqual(['duplicate', 'duplicate']);
    expect(pushed.forwards).toEqual([['a', 'stored app', 11, 11, 'waiting', 0, 0, 1000, 1000, 0]]);
  });

  it('binds a nonce to the body that came first, and again once that is over', () => {
    const [a, b] = [
      { ...lead('a'), nonce: 'n' },
      { ...lead('b'), nonce: 'n' },
    ];
    const { results, nonces, deliveries, rejectedKinds } = decide(
      [item(a), item(b), item(a)],
      nothing,
      context,
    );
    expect(results.flat().map(({ kind }) => kind)).toEqual(['accepted', 'rejected', 'duplicate']);
    expect(nonces.get('n')).toMatchObject({ expires: 600 });
    expect(deliveries.map((row) => [row[2], row[3]])).toEqual([
      ['a', 'accepted'],
      ['b', 'rejected'],
      ['a', 'duplicate'],
    ]);
    expect([...rejectedKinds]).toEqual(['rejected']);
    const bound = (expires: number) => ({
      ...nothing,
      nonces: new Map([['n', { digest: sha256(bodyOf('x')), expires }]]),
    });
    expect(decide([item(a)], bound(501), context).results).toMatchObject([[{ kind: 'rejected' }]]);
    expect(decide([item(a)], bound(500), context).results).toMatchObject([[{ kind: 'accepted' }]]);
  });

  it('stores nothing of a lead that was erased, and the others of its delivery without it', () => {
    const erased = new Map([['a', { seq: 2, firstAt: 5, attempts: 3 }]]);
    const known = { ...nothing, erased };
    const alone = decide([item(lead('a'))], known, context);
    expect(alone.results).toMatchObject([
      [{ kind: 'duplicate', attempt: 4, firstAt: 5, seq: 2, isErased: true }],
    ]);
    expect([alone.seq, alone.deliveries, alone.leads]).toEqual([10, [], []]);
    const body = '[{"id":"a"},{"id":"b"}]';
    const delivery = deliveryOf(body);
    const places = [
      { start: 1, end: 11 },
      { start: 12, end: 22 },
    ];
    const both = ['a', 'b'].map((leadId, i) => ({ delivery, leadId, place: places[i] }));
    const { results, deliveries } = decide([takeItem(both, redact)], known, context);
    expect(results).toMatchObject([[{ isErased: true }, { kind: 'accepted', leadId: 'b' }]]);
    const bytes = deliveries[0]?.[14];
    expect(Buffer.from(bytes as Uint8Array).toString()).toBe('           [{"id":"b"}]'.padStart(body.length));
    const rejected = rejectItem(
      [{ delivery: deliveryOf('{"id":"a",'), rejection: rejection('wrong_credential', '') }],
      redact,
    );
    expect(decide([rejected], known, context).deliveries).toEqual([]);
    expect(decide([rejected], nothing, context).deliveries).toHaveLength(1);
  });
});
