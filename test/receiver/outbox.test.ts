import { expect, it } from 'vitest';
import { DataError } from '../../src/errors.ts';
import type { DueLead, Inbox, TargetLease } from '../../src/inbox/inbox.ts';
import { Outbox } from '../../src/receiver/outbox.ts';
import type { Target } from '../../src/receiver/targets/target.ts';
import type { Verifier } from '../../src/webhook/scheme.ts';
import { FakeClock } from '../support/clock.ts';

const cannotRead = new DataError({
  kind: 'inbox-cannot-read',
  inbox: 'inbox.db',
  fault: { kind: 'store-other-fault', detail: 'canceling statement due to statement timeout' },
});

/** An outbox whose leads have waited for so long that they are given up, and cannot be read but for those that were pruned. */
async function roundOver(pruned: readonly string[]) {
  const clock = new FakeClock();
  const end = new AbortController();
  const leased: string[] = [];
  const released: TargetLease[] = [];
  const notes: string[] = [];
  const since = clock.now() - 100 * 3_600_000;
  const due = ['a', 'b'].map((leadId, seq): DueLead => ({ leadId, seq, tries: 1, since, dueAt: since }));
  const inbox: Partial<Inbox> = {
    nextDueAt: () => Promise.resolve(leased.length > 0 ? undefined : since),
    due: () => Promise.resolve(due),
    list: ({ seq, leadId }) => {
      const isPruned = pruned.includes(leadId ?? due[seq ?? 0]?.leadId ?? '');
      const next = () =>
        isPruned ? Promise.resolve({ done: true, value: undefined } as const) : Promise.reject(cannotRead);
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
    verifier: {} as Verifier,
    clock,
    random: () => 0.5,
    note: ({ kind }) => void notes.push(kind),
    sentenceOf: String,
    signal: end.signal,
  });
  const ended = outbox.run({ handOn: () => Promise.resolve(), isDispatching: () => false });
  await expect.poll(() => clock.sleeps).not.toEqual([]);
  end.abort();
  await ended;
  return { leased, released, notes };
}

it('leaves what is due as it is while the inbox cannot be read', async () => {
  expect(await roundOver([])).toEqual({ leased: [], released: [], notes: ['outbox-failed'] });
});

it('puts off a lead that cannot be read beside others, and gives up one of which nothing is kept', async () => {
  const { leased, released, notes } = await roundOver(['b']);
  expect(leased).toEqual(['a', 'b']);
  expect(notes).toEqual(['not-delivered-again', 'not-delivered-again']);
  const [put, over] = released.toSorted((x, y) => (x.leadId < y.leadId ? -1 : 1));
  expect([put?.dead, typeof put?.retryAt]).toEqual([undefined, 'number']);
  expect(over).toMatchObject({ leadId: 'b', dead: true });
});
