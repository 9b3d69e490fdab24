import { expect, it } from 'vitest';
import { DataError } from '../../src/errors.ts';
import type { DueLead, Inbox, StoredDelivery, TargetLease } from '../../src/inbox/inbox.ts';
import { Outbox } from '../../src/receiver/outbox.ts';
import type { Target } from '../../src/receiver/targets/target.ts';
import type { Verifier } from '../../src/webhook/scheme.ts';
import { FakeClock } from '../support/clock.ts';

const cannotRead = new DataError({
  kind: 'inbox-cannot-read',
  inbox: 'inbox.db',
  fault: { kind: 'store-other-fault', detail: 'canceling statement due to statement timeout' },
});

const damaged = new DataError({
  kind: 'inbox-cannot-read',
  inbox: 'inbox.db',
  fault: { kind: 'sqlite-damaged', path: 'inbox.db' },
});

const delivery = {
  ...{
    seq: 0,
    verdict: 'pending',
    status: 502,
    attempt: 1,
    source: 'push',
    remote: '',
    method: 'POST',
    path: '/',
  },
  ...{ headers: [], receivedAt: 0, results: [], body: Buffer.from('{"id":"b"}'), place: undefined },
} as Partial<StoredDelivery> as StoredDelivery;

/**
 * An outbox whose leads have waited for so long that they are given up. `found`: what reading of each ends with; undefined
 * where it was pruned. `isAway`: its target was tried, and is down.
 */
async function roundOver(found: Record<string, StoredDelivery | DataError | undefined>, isAway = false) {
  const clock = new FakeClock();
  const end = new AbortController();
  const leased: string[] = [];
  const released: TargetLease[] = [];
  const handed: string[] = [];
  const notes: string[] = [];
  const since = clock.now() - 100 * 3_600_000;
  const ids = Object.keys(found);
  const all = ids.map((leadId, seq): DueLead => ({ leadId, seq, tries: 1, since, dueAt: since }));
  const due = (): DueLead[] => all.filter(({ leadId }) => !leased.includes(leadId));
  const inbox: Partial<Inbox> = {
    nextDueAt: () => Promise.resolve(due()[0]?.dueAt),
    due: (_target, _by, limit) => Promise.resolve(due().slice(0, limit)),
    list: ({ seq, leadId }) => {
      const one = found[leadId ?? ids[seq ?? 0] ?? ''];
      const next = () =>
        one instanceof Error
          ? Promise.reject(one)
          : Promise.resolve(one === undefined ? ({ done: true, value: undefined } as const) : { value: one });
      return { [Symbol.asyncIterator]: () => ({ next }) };
    },
    lease(leases) {
      leased.push(...leases.map((lease) => lease.leadId));
      return Promise.resolve(leases.map(() => ({ state: 'leased', tries: 1 })));
    },
    release: (leases) => Promise.resolve(void released.push(...leases)),
    outstanding: () => Promise.resolve([]),
  };
  const app: Target = { name: 'app', deliver: () => [] };
  const outbox = new Outbox({
    inbox: inbox as Inbox,
    targets: [app],
    verifier: { scheme: { credentialHeaders: [] }, keys: [] } as unknown as Verifier,
    clock,
    random: () => 0.5,
    note: ({ kind }) => void notes.push(kind),
    sentenceOf: String,
    signal: end.signal,
  });
  if (isAway) {
    const down = { to: 'forward', ok: false, answer: 'refused', durationMs: 1, isDown: true } as const;
    outbox.tried(app, { name: 'app', tries: 1 }, down, 'c');
    clock.advance(10_000);
  }
  const ended = outbox.run({
    handOn: (_checked, pending) =>
      Promise.resolve(void handed.push(...pending.map(({ stored }) => stored.leadId))),
    isDispatching: () => false,
  });
  await expect.poll(() => clock.sleeps).not.toEqual([]);
  end.abort();
  await ended;
  return { leased, released, handed, notes };
}

it('leaves what is due as it is while the inbox cannot be read', async () => {
  const none = { leased: [], released: [], handed: [] };
  expect(await roundOver({ a: cannotRead, b: cannotRead })).toEqual({ ...none, notes: ['outbox-failed'] });
  expect(await roundOver({ a: cannotRead, b: cannotRead }, true)).toEqual({
    ...none,
    notes: ['outbox-failed'],
  });
});

it('puts off a lead that cannot be read beside others, and gives up one of which nothing is kept', async () => {
  const { leased, released, notes } = await roundOver({ a: cannotRead, b: undefined });
  expect(leased).toEqual(['a', 'b']);
  expect(notes).toEqual(['not-delivered-again', 'not-delivered-again']);
  const [put, over] = released.toSorted((x, y) => (x.leadId < y.leadId ? -1 : 1));
  expect([put?.dead, typeof put?.retryAt]).toEqual([undefined, 'number']);
  expect(over).toMatchObject({ leadId: 'b', dead: true });
});

it.each([
  ['is on a damaged page', damaged],
  ['cannot be read alone', cannotRead],
])('holds no other lead of a target that is away for one that %s', async (_, fault) => {
  const { handed, released, notes } = await roundOver({ a: fault, b: delivery }, true);
  expect(handed).toEqual(['b']);
  expect(released).toMatchObject([{ leadId: 'a', retryAt: expect.any(Number) as number }]);
  expect(notes).toEqual(['not-delivered-again']);
});

it('puts off all leads that are on damaged pages', async () => {
  const { released, notes } = await roundOver({ a: damaged, b: damaged });
  expect(released.map(({ leadId, dead }) => [leadId, dead])).toEqual([
    ['a', undefined],
    ['b', undefined],
  ]);
  expect(notes).toEqual(['not-delivered-again', 'not-delivered-again']);
});
