import { describe, expect, it } from 'vitest';
import { CannotStoreError, type Inbox, type LeaseAnswer, type TargetLease } from '../../src/inbox/inbox.ts';
import { openInbox } from '../../src/inbox/open-inbox.ts';
import { sentenceOf } from '../../src/messages/find-message.ts';
import { createReceiver, type Receiver } from '../../src/receiver/create-receiver.ts';
import { inboxRequirements } from '../../src/receiver/inbox-requirements.ts';
import { TargetDeliverer } from '../../src/receiver/deliver-to-targets.ts';
import { LeaseRenewal } from '../../src/receiver/lease-renewal.ts';
import { Outbox } from '../../src/receiver/outbox.ts';
import type { Target, TargetResult } from '../../src/receiver/targets/target.ts';
import { Secret } from '../../src/secret.ts';
import { systemClock } from '../../src/time/clock.ts';
import type { CheckedDelivery, CheckedLead } from '../../src/webhook/check-delivery.ts';
import type { Verifier } from '../../src/webhook/scheme.ts';
import { schemeNamed } from '../../src/webhook/scheme-registry.ts';
import { clock, open, sharedStores } from '../inbox/stores.ts';
import { FakeClock } from '../support/clock.ts';
import { until } from '../support/until.ts';

const scheme = schemeNamed('token');
const policy = { path: undefined, scheme, keys: [scheme.key(new Secret('token-of-a-test'))] };

const deliveryOf = (id: string) => ({
  method: 'POST',
  path: '/',
  url: 'https://localhost/',
  rawHeaders: [
    ['content-type', 'application/json'],
    ['x-webhook-token', 'token-of-a-test'],
  ] as const,
  body: Buffer.from(JSON.stringify({ id })),
  remote: '127.0.0.1',
  receivedAt: systemClock.now(),
});

/** An app that answers when the test says so, and knows which of its requests were cut short. */
class SlowApp implements Target {
  readonly name = 'app';
  readonly answers: ((result: TargetResult) => void)[] = [];
  readonly tries: number[] = [];
  cut = 0;

  deliver(...[, leads, onBegun]: Parameters<Target['deliver']>): readonly Promise<TargetResult>[] {
    const result = new Promise<TargetResult>((resolve) => {
      this.answers.push(resolve);
      onBegun?.(() => {
        this.cut += 1;
        resolve(failed);
      });
    });
    this.tries.push(...leads.map(({ attempt }) => attempt));
    return leads.map(() => result);
  }
}

const taken: TargetResult = { to: 'forward', ok: true, answer: '200', durationMs: 1 };
const failed: TargetResult = { to: 'forward', ok: false, answer: '500', durationMs: 1 };

describe.each(sharedStores)('two receivers of one inbox on $name', ({ newLocation }) => {
  /** `onTaken`: what happens between a COMMIT and its answer to the first one. */
  async function start(
    clocks: readonly FakeClock[] = [],
    onTaken: (lease: () => Promise<LeaseAnswer | undefined>) => Promise<void> = () => Promise.resolve(),
  ) {
    const app = new SlowApp();
    const location = newLocation();
    const inboxes: Inbox[] = [];
    const receivers: Receiver[] = [];
    for (const i of [0, 1]) {
      const clock = clocks[i] ?? systemClock;
      const inbox = await open(location, { clock, ...inboxRequirements(policy, [app]) });
      inboxes.push(inbox);
      receivers.push(
        createReceiver({
          policy,
          inbox: i === 0 ? takingLong(inbox) : inbox,
          targets: [app],
          clock,
          note: () => undefined,
          sentenceOf,
        }),
      );
    }
    function takingLong(
      inbox: Inbox,
    ): Pick<Inbox, 'take' | 'reject' | 'settle' | 'release' | 'lease' | 'states'> {
      return {
        async take(arrivals) {
          const results = await inbox.take(arrivals);
          await onTaken(async () => (await inboxes[1]?.lease([{ leadId: 'a', seq: 1, target: 'app' }]))?.[0]);
          return results;
        },
        reject: (rejected) => inbox.reject(rejected),
        settle: (leases) => inbox.settle(leases),
        release: (leases) => inbox.release(leases),
        lease: (leases) => inbox.lease(leases),
        states: (leadIds) => inbox.states(leadIds),
      };
    }
    const handle = async (i: number): Promise<string> => {
      const { status, body } = (await receivers[i]?.handle(deliveryOf('a'))) ?? {};
      return `${status} ${JSON.stringify(body?.['status'] ?? body?.['error'])}`;
    };
    return { app, inboxes, handle };
  }

  it('gives a duplicate the verdict of the delivery that is under way at the other one', async () => {
    const { app, handle, inboxes } = await start();
    const first = handle(0);
    await until(() => app.answers.length === 1, 'the forward of the first delivery');
    const second = handle(1);
    app.answers[0]?.(taken);
    expect([await first, await second]).toEqual(['200 "accepted"', '200 "duplicate"']);
    expect(app.answers).toHaveLength(1);
    const stored = [];
    for await (const { verdict, status } of inboxes[0]?.list({}) ?? []) stored.push([verdict, status]);
    expect(stored).toEqual([
      ['duplicate', 200],
      ['accepted', 200],
    ]);
  });

  it('hands a duplicate on where the other one could not', async () => {
    const { app, handle } = await start();
    const first = handle(0);
    await until(() => app.answers.length === 1, 'the forward of the first delivery');
    const second = handle(1);
    app.answers[0]?.(failed);
    await until(() => app.answers.length === 2, 'the forward of the second delivery');
    app.answers[1]?.(taken);
    expect([await first, await second]).toEqual(['502 "not_forwarded"', '200 "accepted"']);
  });

  it('cut a forward short whose lease the other one took, and keep one that they renew', async () => {
    // That of the other one is the database's as well.
    const own = new FakeClock(clock.now());
    const { app, handle, inboxes } = await start([own, clock]);
    const first = handle(0);
    await until(() => app.answers.length === 1, 'the forward of the first delivery');
    const lease = { leadId: 'a', seq: 1, target: 'app' };
    const leasedByOther = async () => (await inboxes[1]?.lease([lease]))?.[0]?.state;
    for (let passed = 0; passed < 9000; passed += 250) {
      for (const one of [own, clock]) one.advance(250);
      // Behind the question that this began.
      await inboxes[0]?.release([]);
    }
    expect(await leasedByOther()).toBe('busy');
    // The first one stands still, as a process that is stopped.
    clock.advance(5250);
    expect(await leasedByOther()).toBe('leased');
    expect(app.cut).toBe(0);
    await until(() => (own.advance(250), app.cut === 1), 'the end of the forward');
    expect(await first).toBe('502 "not_forwarded"');
    expect(await leasedByOther()).toBe('leased');
  });

  it('hand nothing on whose lease the other one took before the inbox answered', async () => {
    const own = new FakeClock(clock.now());
    const { app, handle, inboxes } = await start([own, clock], async (lease) => {
      for (const one of [own, clock]) one.advance(5250);
      expect(await lease()).toMatchObject({ state: 'leased' });
    });
    const first = handle(0);
    let isAnswered = false;
    void first.then(() => (isAnswered = true));
    const lease = { leadId: 'a', seq: 1, target: 'app' };
    await until(async () => {
      for (const one of [own, clock]) one.advance(250);
      // Renewed, as the other one does while it hands the lead on.
      await inboxes[1]?.lease([lease]);
      return isAnswered;
    }, 'the answer');
    expect([await first, app.answers]).toEqual(['502 "not_forwarded"', []]);
    await inboxes[1]?.settle([lease]);
    expect([await handle(1), app.answers]).toEqual(['200 "duplicate"', []]);
  });

  it('hand on what is still theirs although the inbox answered late, and count no other try', async () => {
    const own = new FakeClock(clock.now());
    const { app, handle } = await start([own, clock], () => {
      for (const one of [own, clock]) one.advance(4500);
      return Promise.resolve();
    });
    const first = handle(0);
    await until(() => (own.advance(250), app.answers.length === 1), 'the forward');
    app.answers[0]?.(taken);
    expect(await first).toBe('200 "accepted"');
    expect(app.tries).toEqual([1]);
  });

  it('renew a lease at once that is old when the forward begins', async () => {
    const own = new FakeClock(clock.now());
    const { app, handle, inboxes } = await start([own, clock], () => {
      for (const one of [own, clock]) one.advance(2000);
      return Promise.resolve();
    });
    const first = handle(0);
    await until(() => app.answers.length === 1, 'the forward');
    for (const one of [own, clock]) one.advance(250);
    await inboxes[0]?.release([]);
    for (const one of [own, clock]) one.advance(2900);
    const lease = { leadId: 'a', seq: 1, target: 'app' };
    expect((await inboxes[1]?.lease([lease]))?.[0]?.state).toBe('busy');
    app.answers[0]?.(taken);
    expect(await first).toBe('200 "accepted"');
  });
});

it.each(sharedStores)(
  'a lead whose lease ends with the one that the outbox had is leased again before it is handed on, in $name',
  async ({ newLocation }) => {
    const app = new SlowApp();
    const location = newLocation();
    const options = { clock: systemClock, ...inboxRequirements(policy, [app]) };
    const [inbox, other] = [await open(location, options), await open(location, options)];
    let takes = 0;
    let isOfOutbox = false;
    let pushed: ReturnType<Receiver['handle']> | undefined;
    const watched: Partial<Inbox> = {
      async take(arrivals) {
        const results = await inbox.take(arrivals);
        takes += 1;
        return results;
      },
      // Nothing that is kept of the lead can be found: the outbox puts it off.
      list: async function* () {},
      async release(leases) {
        if (isOfOutbox) {
          // It comes again, and is granted a lease before the one of the outbox ends.
          pushed ??= receiver.handle(deliveryOf('a'));
          await until(() => takes === 2, 'the second delivery');
        }
        await inbox.release(leases);
      },
      settle: (leases) => inbox.settle(leases),
      states: (leadIds) => inbox.states(leadIds),
      lease: (leases) => inbox.lease(leases),
      due: (...asked) => inbox.due(...asked),
      nextDueAt: (target) => inbox.nextDueAt(target),
    };
    const parts = { inbox: watched as Inbox, targets: [app], clock: systemClock, sentenceOf };
    const receiver = createReceiver({ ...parts, policy, note: () => undefined });
    const first = receiver.handle(deliveryOf('a'));
    await until(() => app.answers.length === 1, 'the forward of the first delivery');
    app.answers[0]?.(failed);
    await first;
    const end = new AbortController();
    const verifier = { scheme, keys: [] } as unknown as Verifier;
    const outbox = new Outbox({
      ...parts,
      verifier,
      random: () => 0.5,
      note: () => undefined,
      signal: end.signal,
    });
    isOfOutbox = true;
    const ended = outbox.run(receiver);
    await until(() => pushed !== undefined, 'the end of the lease');
    const answered = pushed?.then(({ status }) => status);
    end.abort();
    await ended;
    await until(() => app.answers.length === 2, 'the forward of the second delivery');
    expect((await other.lease([{ leadId: 'a', seq: 1, target: 'app' }]))[0]?.state).toBe('busy');
    app.answers[1]?.(taken);
    expect(await answered).toBe(200);
  },
);

describe.each(sharedStores)('a new lead of a target that is away, in $name', ({ newLocation }) => {
  it('was not tried, for the next receiver either', async () => {
    const app = new SlowApp();
    const location = newLocation();
    const inbox = await openInbox({ location, clock, ...inboxRequirements(policy, [app]) });
    const outbox = { isAway: () => true, tried: () => ({}), wake: () => undefined };
    const noted: unknown[] = [];
    const note = (found: unknown): void => void noted.push(found);
    const parts = { policy, inbox, targets: [app], clock, note, sentenceOf, outbox };
    const receiver = createReceiver({ ...parts, acknowledge: 'stored' });
    expect(await receiver.handle(deliveryOf('a'))).toMatchObject({ status: 200 });
    await receiver.idle();
    await inbox.close();
    expect([app.answers, noted]).toEqual([[], []]);
    const next = await open(location, inboxRequirements(policy, [app]));
    expect(await next.due('app', clock.now(), 9)).toMatchObject([{ leadId: 'a', tries: 0 }]);
  });
});

describe('leads that the inbox granted late', () => {
  /** `again`: what comes of the question for their leases. */
  async function deliver(
    ids: readonly string[],
    again: Inbox['lease'],
    clock = new FakeClock(),
    known: ReadonlyMap<string, 'accepted'> = new Map(),
  ) {
    const handed: (readonly [id: string, attempt: number])[][] = [];
    const bodies: string[] = [];
    const app: Target = {
      name: 'app',
      deliver: ({ delivery }, leads) => {
        handed.push(leads.map(({ leadId, attempt }) => [leadId, attempt]));
        bodies.push(delivery.body.toString());
        return leads.map(() => Promise.resolve(taken));
      },
    };
    const inbox: Partial<Inbox> = {
      take: (arrivals) => {
        clock.advance(3000);
        const targets = [{ name: 'app', tries: 1 }];
        const stored = { kind: 'pending', seq: 1, attempt: 1, firstAt: 0, targets, busy: false } as const;
        return Promise.resolve(arrivals.map(({ leadId }) => ({ ...stored, leadId })));
      },
      lease: again,
      states: () => Promise.resolve(known),
      settle: (leases) => Promise.resolve(leases.map(() => 'accepted' as const)),
    };
    const parts = { policy, targets: [app], clock, note: () => undefined, sentenceOf };
    const body = Buffer.from(JSON.stringify(ids.map((id) => ({ id, category: 'x' }))));
    const receiver = createReceiver({ ...parts, inbox: inbox as Inbox });
    const said: unknown[] = [];
    receiver.events.subscribe(
      ({ leadId, verdict, lead }) => void said.push([leadId, verdict, lead !== undefined]),
    );
    let answer: unknown;
    void receiver.handle({ ...deliveryOf('a'), body }).then(({ status }) => (answer = status));
    await until(() => (clock.advance(250), answer !== undefined), 'the answer');
    return { handed, answer, bodies, said };
  }

  it('go out in one request as they came, and say how often they were tried', async () => {
    const questions: number[] = [];
    const { handed, answer } = await deliver(['a', 'b', 'c'], (leases) => {
      questions.push(leases.length);
      return Promise.resolve(leases.map(() => ({ state: 'leased', tries: 0 })));
    });
    expect([handed, answer]).toEqual([
      [
        [
          ['a', 2],
          ['b', 2],
          ['c', 2],
        ],
      ],
      200,
    ]);
    expect(questions).toEqual([3]);
  });

  it('go out without those that another receiver has delivered meanwhile', async () => {
    const { handed, answer } = await deliver(['a', 'b'], (leases) =>
      Promise.resolve(
        leases.map(({ leadId }) => ({ state: leadId === 'a' ? 'settled' : 'leased', tries: 1 })),
      ),
    );
    expect([handed, answer]).toEqual([[[['b', 2]]], 200]);
  });

  it('go out where the inbox does not know them any more', async () => {
    const { handed } = await deliver(['a'], () => Promise.resolve([{ state: 'not outstanding', tries: 0 }]));
    expect(handed).toEqual([[['a', 2]]]);
  });

  it('go out without one that was erased meanwhile', async () => {
    const lease: Inbox['lease'] = (leases) =>
      Promise.resolve(
        leases.map(({ leadId }) => ({ state: leadId === 'a' ? 'not outstanding' : 'leased', tries: 0 })),
      );
    const known = new Map([['a', 'accepted']] as const);
    const { handed, answer, bodies, said } = await deliver(['a', 'b'], lease, new FakeClock(), known);
    expect(answer).toBe(200);
    expect(said).toEqual([
      ['a', 'duplicate', false],
      ['b', 'accepted', true],
    ]);
    expect(handed).toEqual([[['b', 2]]]);
    expect(bodies[0]).toContain('"b"');
    expect(bodies[0]).not.toContain('"a"');
    const alone = await deliver(['a'], lease, new FakeClock(), known);
    expect([alone.handed, alone.answer]).toEqual([[], 200]);
  });

  it('go out where the inbox has failed since, and are renewed before their leases end', async () => {
    const clock = new FakeClock();
    const since = clock.now();
    const asked: number[] = [];
    const target = new SlowApp();
    const lease: Inbox['lease'] = async (leases) => {
      asked.push(clock.now() - since);
      if (asked.length > 1) return leases.map(() => ({ state: 'leased', tries: 0 }));
      await clock.sleep(1000);
      throw new CannotStoreError('full');
    };
    const settle: Inbox['settle'] = () => Promise.resolve(['accepted']);
    const deliverer = new TargetDeliverer({ lease, settle } as Partial<Inbox> as Inbox, [target], clock);
    const wanted = { name: 'app', tries: 0 };
    const one = { kind: 'pending', leadId: 'a', seq: 1, attempt: 1, firstAt: 0 } as const;
    const lead = { lead: { leadId: 'a' } as CheckedLead, stored: { ...one, targets: [wanted], busy: false } };
    clock.advance(3000);
    const dispatched = deliverer.dispatch({} as CheckedDelivery, [lead], since);
    await until(() => (clock.advance(250), asked.length > 1), 'the renewal');
    expect(asked).toEqual([3000, 4250]);
    target.answers[0]?.(taken);
    await dispatched;
  });

  it('go out where the inbox has failed since, unless their leases have ended by then', async () => {
    const full = new CannotStoreError('full');
    const { handed, answer } = await deliver(['a'], () => Promise.reject(full));
    expect([handed, answer]).toEqual([[[['a', 2]]], 200]);
    const clock = new FakeClock();
    const late = await deliver(['a'], () => (clock.advance(2000), Promise.reject(full)), clock);
    expect([late.handed, late.answer]).toEqual([[], 503]);
  });
});

describe('leases while the inbox takes four seconds for an answer', () => {
  const stored = { kind: 'pending', leadId: 'a', seq: 1, attempt: 2, firstAt: 0, targets: [] } as const;
  const busyLead = { lead: { leadId: 'a' } as CheckedLead, stored: { ...stored, busy: true } };

  function slowInbox(states: readonly LeaseAnswer['state'][] = []) {
    const clock = new FakeClock(0);
    const asked: (readonly [at: number, leadId: string | undefined])[] = [];
    const lease = async (leases: readonly TargetLease[]): Promise<readonly LeaseAnswer[]> => {
      const state = states[asked.length] ?? 'leased';
      asked.push([clock.now(), leases[0]?.leadId]);
      await clock.sleep(4000);
      return leases.map(() => ({ state, tries: 1 }));
    };
    const passed = async (ms: number): Promise<void> => {
      for (let n = 0; n < ms; n += 250) {
        clock.advance(250);
        await new Promise(setImmediate);
      }
    };
    return { clock, lease, asked, passed };
  }

  it('are asked for again before they end, one that begins during a question as well', async () => {
    const { clock, lease, asked, passed } = slowInbox();
    const renewal = new LeaseRenewal({ lease }, clock, undefined);
    const keep = (leadId: string, leasedAt: number) =>
      renewal.keep({ leadId, seq: 1, target: 'app' }, leasedAt, () => undefined);
    const ends = [keep('a', 0)];
    await passed(3000);
    ends.push(keep('b', 500));
    await passed(4000);
    for (const end of ends) end();
    expect(asked).toEqual([
      [1500, 'a'],
      [3250, 'b'],
      [5500, 'a'],
    ]);
    await passed(4000);
  });

  it('are asked for again soon where the inbox could not renew them', async () => {
    const { clock, passed } = slowInbox();
    const asked: number[] = [];
    const lease: Inbox['lease'] = (leases) => {
      asked.push(clock.now());
      if (asked.length < 4) return Promise.reject(new CannotStoreError('full'));
      return Promise.resolve(leases.map(() => ({ state: 'leased', tries: 1 })));
    };
    const renewal = new LeaseRenewal({ lease }, clock, undefined);
    const end = renewal.keep({ leadId: 'a', seq: 1, target: 'app' }, 0, () => undefined);
    await passed(4000);
    end();
    await passed(250);
    expect(asked).toEqual([1500, 1750, 2000, 2250, 3750]);
  });

  it('are given back where they are granted after nobody waits for them any more', async () => {
    const { clock, lease, passed } = slowInbox(['busy', 'leased']);
    const released: TargetLease[] = [];
    const release: Inbox['release'] = (leases) => Promise.resolve(void released.push(...leases));
    const app = new SlowApp();
    const deliverer = new TargetDeliverer({ lease, release } as Partial<Inbox> as Inbox, [app], clock);
    const dispatched = deliverer.dispatch({} as CheckedDelivery, [busyLead], 0);
    await passed(9000);
    expect(await dispatched).toMatchObject([{ kind: 'pending' }]);
    expect([released, app.answers]).toEqual([[{ leadId: 'a', seq: 1, target: 'app' }], []]);
  });

  it('are not taken for its own by who waits for another receiver, without a second question', async () => {
    const { clock, lease, asked, passed } = slowInbox(['leased', 'busy']);
    const app = new SlowApp();
    const deliverer = new TargetDeliverer({ lease } as Partial<Inbox> as Inbox, [app], clock);
    const dispatched = deliverer.dispatch({} as CheckedDelivery, [busyLead], 0);
    await passed(9000);
    expect(await dispatched).toMatchObject([{ kind: 'pending' }]);
    expect([asked, app.answers]).toEqual([
      [
        [250, 'a'],
        [4250, 'a'],
      ],
      [],
    ]);
  });
});

describe('a delivery whose lead another receiver has', () => {
  function watching(signal?: AbortSignal) {
    const clock = new FakeClock();
    const asked: number[] = [];
    const lease = (leases: readonly TargetLease[]): Promise<readonly LeaseAnswer[]> => {
      asked.push(leases.length);
      return Promise.resolve(leases.map(() => ({ state: 'busy', tries: 0 })));
    };
    const watch = new LeaseRenewal({ lease }, clock, signal);
    let ended = 0;
    const wait = (leadId: string): void =>
      void watch.afterOther({ leadId, seq: 1, target: 'app' }, () => undefined).then(() => (ended += 1));
    return { clock, asked, wait, ended: () => ended };
  }
  const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

  it('waits for five seconds, and all that wait share a question', async () => {
    const { clock, asked, wait, ended } = watching();
    for (let n = 0; n < 1001; n += 1) wait(`lead-${n}`);
    await settled();
    expect(ended()).toBe(1);
    for (let n = 0; n < 19; n += 1) {
      clock.advance(250);
      await settled();
    }
    expect([ended(), asked]).toEqual([1, Array<number>(19).fill(1000)]);
    clock.advance(250);
    await settled();
    expect(ended()).toBe(1001);
  });

  it('waits no longer when the receiver ends', async () => {
    const end = new AbortController();
    const { wait, ended } = watching(end.signal);
    wait('a');
    end.abort();
    await settled();
    wait('b');
    await settled();
    expect(ended()).toBe(2);
  });
});
