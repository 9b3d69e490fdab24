import { describe, expect, it } from 'vitest';
import type { Inbox, LeaseAnswer, TargetLease } from '../../src/inbox/inbox.ts';
import { openInbox } from '../../src/inbox/open-inbox.ts';
import { sentenceOf } from '../../src/messages/find-message.ts';
import { createReceiver, type Receiver } from '../../src/receiver/create-receiver.ts';
import { inboxRequirements } from '../../src/receiver/inbox-requirements.ts';
import { LeaseRenewal } from '../../src/receiver/lease-renewal.ts';
import type { Target, TargetResult } from '../../src/receiver/targets/target.ts';
import { Secret } from '../../src/secret.ts';
import { systemClock } from '../../src/time/clock.ts';
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
  cut = 0;

  deliver(...[, leads, onBegun]: Parameters<Target['deliver']>): readonly Promise<TargetResult>[] {
    const result = new Promise<TargetResult>((resolve) => {
      this.answers.push(resolve);
      onBegun?.(() => {
        this.cut += 1;
        resolve(failed);
      });
    });
    return leads.map(() => result);
  }
}

const taken: TargetResult = { to: 'forward', ok: true, answer: '200', durationMs: 1 };
const failed: TargetResult = { to: 'forward', ok: false, answer: '500', durationMs: 1 };

describe.each(sharedStores)('two receivers of one inbox on $name', ({ newLocation }) => {
  async function start(clocks: readonly FakeClock[] = []) {
    const app = new SlowApp();
    const location = newLocation();
    const inboxes: Inbox[] = [];
    const receivers: Receiver[] = [];
    for (const i of [0, 1]) {
      const clock = clocks[i] ?? systemClock;
      const inbox = await open(location, { clock, ...inboxRequirements(policy, [app]) });
      inboxes.push(inbox);
      receivers.push(
        createReceiver({ policy, inbox, targets: [app], clock, note: () => undefined, sentenceOf }),
      );
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
});

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
      void watch.afterOther({ leadId, seq: 1, target: 'app' }).then(() => (ended += 1));
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
