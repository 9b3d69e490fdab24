import { expect, it } from 'vitest';
import { DataError } from '../../src/errors.ts';
import type { DueLead, Inbox, StoredDelivery, TargetLease } from '../../src/inbox/inbox.ts';
import { Outbox } from '../../src/receiver/outbox.ts';
import type { Target } from '../../src/receiver/targets/target.ts';
import type { Verifier } from '../../src/webhook/scheme.ts';
import { clock as storeClock, open, stores } from '../inbox/stores.ts';
import { deliveryOf as received } from '../inbox/support.ts';
import { FakeClock } from '../support/clock.ts';

const cannotRead = new DataError({
  kind: 'inbox-cannot-read',
  inbox: 'inbox.db',
  fault: { kind: 'store-other-fault', detail: 'canceling statement due to statement timeout' },
});

const deliveryOf = (id: string): StoredDelivery =>
  ({
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
    ...{
      headers: [],
      receivedAt: 0,
      results: [],
      body: Buffer.from(JSON.stringify({ id })),
      place: undefined,
    },
  }) as Partial<StoredDelivery> as StoredDelivery;

interface RoundOptions {
  readonly rounds?: number;
  readonly comes?: boolean;
  readonly givesUp?: boolean;
  readonly fault?: DataError;
  readonly pushed?: readonly string[];
}

/**
 * An outbox whose leads have waited for so long that they are given up, after some rounds. `found`: what reading of each ends
 * with; undefined where it was pruned. `isAway`: its target was tried, and is down. `comes`: one more lead in each round.
 * `givesUp`: one was given up, and how many are dead cannot be read at first. `fault`: what handing on ends with.
 * `pushed`: leads that are pushed while their leases are asked for.
 */
async function roundOver(
  found: Record<string, StoredDelivery | DataError | undefined>,
  isAway: boolean | 'for long' = false,
  { rounds = 1, comes = false, givesUp = false, fault, pushed = [] }: RoundOptions = {},
) {
  const clock = new FakeClock();
  const end = new AbortController();
  const leased: string[] = [];
  const released: TargetLease[] = [];
  const handed: string[] = [];
  const notes: string[] = [];
  let asked = 0;
  const since = clock.now() - 100 * 3_600_000;
  const ids = Object.keys(found);
  const all = ids.map((leadId, seq): DueLead => ({ leadId, seq, tries: 1, since, dueAt: since }));
  const due = (): DueLead[] => all.filter(({ leadId }) => !leased.includes(leadId));
  const come = (): void => {
    const seq = ids.push(`new-${ids.length}`) - 1;
    const leadId = ids[seq] ?? '';
    found[leadId] = deliveryOf(leadId);
    all.push({ leadId, seq, tries: 0, since: clock.now(), dueAt: clock.now() });
  };
  const inbox: Partial<Inbox> = {
    nextDueAt: () => Promise.resolve(due()[0]?.dueAt),
    due(_target, _by, limit) {
      if (comes) come();
      return Promise.resolve(due().slice(0, limit));
    },
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
    outstanding() {
      asked += 1;
      return givesUp && asked === 1 ? Promise.reject(cannotRead) : Promise.resolve([]);
    },
  };
  const app: Target = { name: 'app', deliver: () => [] };
  const outbox = new Outbox({
    inbox: inbox as Inbox,
    targets: [app],
    verifier: { scheme: { credentialHeaders: [] }, keys: [] } as unknown as Verifier,
    clock,
    random: () => 0.5,
    note: (found) => void notes.push(found.kind === 'given-up' ? `${found.leads} given up` : found.kind),
    sentenceOf: String,
    signal: end.signal,
  });
  const down = { to: 'forward', ok: false, answer: 'refused', durationMs: 1, isDown: true } as const;
  if (givesUp)
    outbox
      .tried(app, { name: 'app', tries: 9, since }, { ...down, isDown: undefined }, 'over')
      .onReleased?.(true);
  for (let outages = isAway === 'for long' ? 12 : Number(isAway); outages > 0; outages -= 1) {
    outbox.tried(app, { name: 'app', tries: comes ? 0 : 1 }, down, 'c');
    clock.advance(isAway === true ? 10_000 : 3_600_000);
  }
  const ended = outbox.run({
    handOn(_checked, pending) {
      if (fault !== undefined) return Promise.reject(fault);
      for (const { leadId, targets } of pending.map(({ stored }) => stored)) {
        handed.push(leadId);
        for (const wanted of targets) if (comes) outbox.tried(app, wanted, down, leadId);
      }
      return Promise.resolve();
    },
    isDispatching: (leadId) => pushed.includes(leadId) && leased.includes(leadId),
    release: (leases) => (inbox as Inbox).release(leases),
  });
  for (let round = 1; round <= rounds; round += 1) {
    await expect.poll(() => clock.sleeps.length).toBeGreaterThanOrEqual(round);
    if (round < rounds) clock.advance(clock.sleeps.at(-1) ?? 0);
  }
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

it('gives up a lead of which nothing is kept, and holds no other for it', async () => {
  const { leased, released, handed, notes } = await roundOver({ a: deliveryOf('a'), b: undefined });
  expect([leased, handed]).toEqual([['a', 'b'], ['a']]);
  expect(notes).toEqual(['not-delivered-again']);
  expect(released).toMatchObject([{ leadId: 'b', dead: true }]);
});

it('puts off no lead because the inbox cannot be read while it is handed on', async () => {
  const { released, notes } = await roundOver({ a: deliveryOf('a') }, false, { fault: cannotRead });
  expect([released, notes]).toEqual([[], ['outbox-failed']]);
});

it('ends no lease of a lead that is pushed meanwhile', async () => {
  const some = { a: deliveryOf('a'), b: deliveryOf('b'), c: deliveryOf('c') };
  const over = await roundOver(some, 'for long', { pushed: ['c'] });
  expect(over.leased).toEqual(['a', 'b', 'c']);
  expect(over.released).toMatchObject([{ leadId: 'b', dead: true }]);
  const put = await roundOver({ a: undefined, b: undefined }, false, { pushed: ['b'] });
  expect(put.released.map(({ leadId }) => leadId)).toEqual(['a']);
});

it('tries a target that is away in turn for what came since and for what failed before', async () => {
  const { handed } = await roundOver({ a: deliveryOf('a'), b: deliveryOf('b') }, true, {
    rounds: 8,
    comes: true,
  });
  expect(handed.filter((id) => id.startsWith('new-')).length).toBeGreaterThan(2);
  expect(handed).toEqual(expect.arrayContaining(['a', 'b']));
});

it('says what was given up once the inbox can be read again', async () => {
  const { notes } = await roundOver({}, false, { rounds: 2, givesUp: true });
  expect(notes).toEqual(['outbox-failed', '1 given up']);
});

it('says that a lead is given up where the inbox stored it and could not say so, and once', async () => {
  const clock = new FakeClock();
  const end = new AbortController();
  const said: number[] = [];
  const dead = new Set<string>();
  let rounds = 0;
  let whileAway: (() => void) | undefined;
  const inbox: Partial<Inbox> = {
    nextDueAt() {
      rounds += 1;
      return Promise.resolve(undefined);
    },
    outstanding() {
      whileAway?.();
      if (whileAway !== undefined) return Promise.reject(new DataError('away'));
      const leads = { leads: 0, wantedElsewhere: false };
      return Promise.resolve([{ ...leads, target: 'app', wanted: true, dead: dead.size }]);
    },
    lackingTargets: (leadId) =>
      Promise.resolve([{ target: 'app', tries: 9, dueAt: undefined, dead: dead.has(leadId) }]),
  };
  const app: Target = { name: 'app', deliver: () => [] };
  const outbox = new Outbox({
    inbox: inbox as Inbox,
    targets: [app],
    verifier: {} as Verifier,
    clock,
    random: () => 0.5,
    note(found) {
      if (found.kind === 'given-up') said.push(found.leads);
    },
    sentenceOf: String,
    signal: end.signal,
  });
  const refused = { to: 'forward', ok: false, answer: '404', durationMs: 1 } as const;
  const ended = outbox.run({
    handOn: () => Promise.resolve(),
    isDispatching: () => false,
    release: () => Promise.resolve(),
  });
  const giveUp = (leadId: string, isStored: boolean): void =>
    outbox.tried(app, { name: 'app', tries: 9, since: 0 }, refused, leadId).onReleased?.(isStored);
  const look = (): Promise<void> => {
    // One may be under way.
    const before = rounds + 1;
    return expect.poll(() => (clock.advance(10_000), rounds)).toBeGreaterThan(before);
  };
  const steps: readonly (readonly [string, ...string[]])[] = [
    ['a'],
    ['a', 'a'],
    ['b', 'a'],
    ['b', 'a', 'b'],
    // The first one was begun anew.
    ['c', 'b'],
    ['a', 'b', 'a'],
  ];
  for (const [leadId, ...now] of steps) {
    dead.clear();
    for (const one of now) dead.add(one);
    giveUp(leadId, false);
    await look();
  }
  expect(said).toEqual([1, 2, 2]);
  // The inbox is away while it is asked, and another one is given up meanwhile.
  giveUp('c', true);
  whileAway = () => giveUp('d', false);
  await look();
  whileAway = undefined;
  for (const one of ['c', 'd']) dead.add(one);
  await look();
  end.abort();
  await ended;
  // It may be asked for one of them before that is dead, and for how many are dead behind it.
  expect([said.slice(0, 3), new Set(said.slice(3))]).toEqual([[1, 2, 2], new Set([4])]);
});

it('holds no new lead for one that a target which answers others asks to wait with again and again', () => {
  const clock = new FakeClock();
  const app: Target = { name: 'app', deliver: () => [] };
  const outbox = new Outbox({
    ...{ inbox: {} as Inbox, targets: [app], verifier: {} as Verifier, clock, random: () => 0.5 },
    ...{ note: () => undefined, sentenceOf: String, signal: new AbortController().signal },
  });
  const taken = { to: 'forward', ok: true, answer: '200', durationMs: 1, status: 200 } as const;
  const asked = {
    ...taken,
    ok: false,
    answer: '503',
    status: 503,
    isDown: true,
    retryAfterMs: 3_600_000,
  } as const;
  const away = [1, 2, 3].map((tries) => {
    outbox.tried(app, { name: 'app', tries: 0 }, { ...taken }, `new-${tries}`);
    outbox.tried(app, { name: 'app', tries }, { ...asked }, 'a');
    return outbox.isAway('app');
  });
  expect(away).toEqual([true, false, false]);
});

it.each(stores)(
  'hands each of many requests that came at one moment on once, from $name',
  async ({ newLocation }) => {
    const inbox = await open(newLocation(), { targets: ['app'], leaseMs: 1000 });
    const requests = ['a', 'b', 'c'].map((name) => Array.from({ length: 1000 }, (_, i) => `${i}${name}`));
    const arrivals = requests.flatMap((ids) => {
      const delivery = received(JSON.stringify(ids.map((id) => ({ id }))), { receivedAt: storeClock.now() });
      let end = 0;
      return ids.map((leadId) => {
        const start = end + 1;
        end = start + JSON.stringify({ id: leadId }).length;
        return { delivery, leadId, place: { start, end } };
      });
    });
    const taken = await inbox.take(arrivals);
    const leases = taken.flatMap((one) => ('seq' in one ? [{ ...one, target: 'app' }] : []));
    await inbox.release(leases);
    const signal = new AbortController();
    const handed: number[] = [];
    const outbox = new Outbox({
      inbox,
      targets: [{ name: 'app', isWhole: true, deliver: () => [] }],
      verifier: { scheme: { credentialHeaders: [] }, keys: [] } as unknown as Verifier,
      clock: storeClock,
      random: () => 0.5,
      note: ({ kind }) => expect(kind).toBe('handed-on-unsigned'),
      sentenceOf: String,
      signal: signal.signal,
    });
    await outbox.run({
      async handOn(_checked, pending) {
        handed.push(pending.length);
        await inbox.settle(pending.map(({ stored: { leadId, seq } }) => ({ leadId, seq, target: 'app' })));
        if ((await inbox.nextDueAt('app')) === undefined) signal.abort();
      },
      isDispatching: () => false,
      release: (leases) => inbox.release(leases),
    });
    expect(handed).toEqual([1000, 1000, 1000]);
  },
);
