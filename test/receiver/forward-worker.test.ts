import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { CannotStoreError } from '../../src/inbox/errors.ts';
import type { Inbox } from '../../src/inbox/inbox.ts';
import { openInbox } from '../../src/inbox/open-inbox.ts';
import { deliveryOfPulledLead } from '../../src/receiver/backfill.ts';
import { ForwardWorker, type WorkerOptions } from '../../src/receiver/forward-worker.ts';
import { createReceiver, inboxRequirements } from '../../src/receiver/receiver.ts';
import type { ReceiverNote } from '../../src/receiver/errors.ts';
import type { ForwardAttempt } from '../../src/receiver/receiver-events.ts';
import type { Target, TargetResult } from '../../src/receiver/targets/target.ts';
import { Secret } from '../../src/secret.ts';
import type { CheckedDelivery } from '../../src/webhook/check-delivery.ts';
import { type Delivery, headerValues } from '../../src/webhook/delivery.ts';
import { schemeNamed } from '../../src/webhook/scheme-registry.ts';
import type { Verifier } from '../../src/webhook/scheme.ts';
import { FakeClock } from '../support/clock.ts';

const second = 1000;
const hour = 3_600_000;
const attemptMs = 30 * second;
const scheme = schemeNamed('token');
const keyOf = (token: string) => scheme.key(new Secret(token));

type Answer = Partial<TargetResult> | Promise<Partial<TargetResult>>;

/** A target that answers as the test says; `attempts`: ids of the leads of each, and its number. */
function app(answer: (leadIds: string) => Answer, more: Partial<Target> = {}) {
  const attempts: string[] = [];
  const received: CheckedDelivery[] = [];
  let [now, most] = [0, 0];
  const target: Target = {
    name: 'forward http://app.test/',
    isWhole: true,
    concurrency: 4,
    ...more,
    async deliver(checked, attempt) {
      const ids = checked.leads.map(({ leadId }) => leadId).join();
      attempts.push(`${ids} ${attempt}`);
      received.push(checked);
      now += 1;
      most = Math.max(most, now);
      const result = await answer(ids);
      now -= 1;
      return { to: 'forward', ok: false, answer: '', durationMs: 1, ...result };
    },
  };
  return { target, attempts, received, mostAtOnce: () => most };
}

const ok = { ok: true, answer: '200', status: 200 } as const;
const down = { answer: 'connection refused', isDown: true } as const;

interface StartOptions {
  readonly clock?: FakeClock;
  readonly inbox?: Inbox;
  readonly wrap?: (inbox: Inbox) => Inbox;
  readonly verifier?: Verifier;
}

/** A receiver with one target, whose worker runs until the test ends. */
async function start(target: Target, options: StartOptions = {}) {
  const { clock = new FakeClock(), verifier = { scheme, keys: [keyOf('secret')] } } = options;
  const opened =
    options.inbox ??
    (await openInbox({ location: ':memory:', clock, ...inboxRequirements(verifier, [target], attemptMs) }));
  const inbox = options.wrap?.(opened) ?? opened;
  const [ending, stopping, cut] = [new AbortController(), new AbortController(), new AbortController()];
  const attempts: ForwardAttempt[] = [];
  const notes: ReceiverNote[] = [];
  const note = (found: ReceiverNote): void => void notes.push(found);
  const shared = { inbox, clock, note } as const;
  const workerOptions: WorkerOptions = {
    ...shared,
    verifier,
    random: () => 0,
    onAttempt: (attempt) => void attempts.push(attempt),
    shutdownRequested: ending.signal,
    claimingStopped: stopping.signal,
    attemptsAborted: cut.signal,
  };
  const worker = new ForwardWorker(target, workerOptions);
  const receiver = createReceiver({
    ...shared,
    verifier,
    place: { path: undefined, leadAt: ['data'] },
    otherEvents: { areTaken: false, option: '' },
    onAnswered: () => undefined,
    workers: [worker],
  });
  const running = worker.run();
  const stop = async (): Promise<void> => {
    ending.abort();
    stopping.abort();
    cut.abort();
    await running;
  };
  onTestFinished(stop);
  await turns();
  return {
    ...{ inbox, clock, worker, receiver, attempts, notes, stopping, ending, cut, running, stop },
    push: (...ids: string[]) => receiver.handle(deliveryOf(ids, clock.now())),
    states: async (leadId: string) =>
      (await inbox.forwards([leadId])).get(leadId)?.map(({ state, tries }) => `${state} ${tries}`),
    /** So long nothing is done but waiting. */
    async wait(ms: number): Promise<void> {
      for (let left = ms; left > 0; left -= second) {
        clock.advance(Math.min(second, left));
        await turns();
      }
    },
  };
}

async function turns(): Promise<void> {
  for (let i = 0; i < 40; i += 1) await turn();
}

const deliveryOf = (ids: readonly string[], receivedAt: number, token = 'secret'): Delivery => ({
  method: 'POST',
  path: '/',
  url: 'https://localhost/',
  rawHeaders: [
    ['content-type', 'application/json'],
    ['x-webhook-token', token],
  ],
  body: Buffer.from(JSON.stringify({ data: ids.map((id) => ({ id })) })),
  remote: '127.0.0.1',
  receivedAt,
});

it('an attempt that was recorded is reported, though the inbox then fails to give up the leads that waited as long', async () => {
  const { target } = app(() => down, { giveUpMs: 10 * second, concurrency: 1 });
  const giveUp = () => Promise.reject(new CannotStoreError('the disk is full'));
  const run = await start(target, { wrap: (inbox) => ({ ...inbox, giveUp }) });
  for (const id of ['a', 'b', 'c']) await run.push(id);
  await run.wait(hour / 30);
  expect(run.attempts.filter(({ state }) => state === 'dead').length).toBeGreaterThan(0);
  expect(run.notes.map(({ kind }) => kind)).toContain('given-up');
});

describe('a lead that came', () => {
  it('is sent at once and once, and is done', async () => {
    const { target, attempts } = app(() => ok);
    const run = await start(target);
    expect(await run.push('a')).toMatchObject({ status: 200, body: { status: 'accepted' } });
    await turns();
    expect(attempts).toEqual(['a 1']);
    expect(await run.states('a')).toEqual(['done 1']);
    expect(run.attempts).toMatchObject([
      { leadId: 'a', target: 'forward http://app.test', attempt: 1, state: 'done', result: { ok: true } },
    ]);
    expect(await run.push('a')).toMatchObject({ status: 200, body: { status: 'duplicate' } });
    await run.wait(hour / 60);
    expect(attempts).toEqual(['a 1']);
  });

  it('is tried again after pauses that grow', async () => {
    let answer: Answer = { answer: '422', status: 422 };
    const { target, attempts } = app(() => answer);
    const run = await start(target);
    await run.push('a');
    await run.wait(4 * second);
    expect(attempts).toEqual(['a 1']);
    await run.wait(3 * second);
    expect(attempts).toEqual(['a 1', 'a 2']);
    await run.wait(8 * second);
    expect(attempts).toHaveLength(2);
    answer = ok;
    await run.wait(5 * second);
    expect(attempts).toEqual(['a 1', 'a 2', 'a 3']);
    expect(run.attempts.map(({ state, retryInMs }) => [state, retryInMs])).toEqual([
      ['waiting', 5 * second],
      ['waiting', 10 * second],
      ['done', undefined],
    ]);
  });

  it('with others in one request goes out with them, once', async () => {
    let answer: Answer = down;
    const { target, attempts, received } = app(() => answer);
    const run = await start(target);
    await run.push('a', 'b', 'c');
    answer = ok;
    await run.wait(10 * second);
    expect(attempts).toEqual(['a,b,c 1', 'a,b,c 2']);
    const bodies = received.map(({ delivery }) => Buffer.from(delivery.body).toString());
    expect(bodies[1]).toBe(bodies[0]);
    for (const id of ['a', 'b', 'c']) expect(await run.states(id)).toEqual(['done 2']);
  });

  it('with others in one request goes alone to a target that takes them one by one', async () => {
    const { target, attempts } = app((id) => (id === 'b' ? { answer: 'exit 1' } : ok), {
      isWhole: undefined,
    });
    const run = await start(target);
    await run.push('a', 'b', 'c');
    await run.wait(7 * second);
    expect(attempts).toEqual(['a 1', 'b 1', 'c 1', 'b 2']);
  });

  it('carries a credential of now, of the current secret', async () => {
    const verifier = { scheme, keys: [keyOf('new'), keyOf('secret')] };
    let answer: Answer = down;
    const { target, received } = app(() => answer);
    const run = await start(target, { verifier });
    await run.push('a');
    verifier.keys = [keyOf('newest')];
    answer = ok;
    await run.wait(10 * second);
    const tokens = received.map(({ delivery }) => headerValues(delivery, 'x-webhook-token'));
    expect(tokens).toEqual([['new'], ['newest']]);
    expect(received.map(({ key }) => key >= 0)).toEqual([true, true]);
  });

  it('from the list of the service carries one as well, at once and from the inbox', async () => {
    let answer: Answer = down;
    const { target, received } = app(() => answer);
    const run = await start(target);
    const record = { id: 'a', bytes: Buffer.from('{"id":"a"}'), createdAt: undefined, category: undefined };
    const pulled = deliveryOfPulledLead(record, new URL('https://service.test/'), run.clock.now());
    await run.receiver.handleChecked(pulled, 'backfill');
    await turns();
    answer = ok;
    await run.wait(10 * second);
    const tokens = received.map(({ delivery }) => headerValues(delivery, 'x-webhook-token'));
    expect(tokens).toEqual([['secret'], ['secret']]);
    expect(received.map(({ source }) => source)).toEqual(['backfill', 'backfill']);
  });
});

describe('a target', () => {
  it('that is down gets one lead at a time, and all that waits once it is back', async () => {
    let answer: Answer = down;
    const { target, attempts, mostAtOnce } = app(async () => {
      await turn();
      return answer;
    });
    const run = await start(target);
    for (let i = 0; i < 30; i += 1) await run.push(`l${i}`);
    await turns();
    // Those of the first moment, before it was known.
    expect(attempts.length).toBeLessThanOrEqual(4);
    const before = attempts.length;
    await run.wait(60 * second);
    expect(attempts.length - before).toBeLessThan(6);
    answer = ok;
    await run.wait(120 * second);
    for (let i = 0; i < 30; i += 1) expect(await run.states(`l${i}`)).toMatchObject([/^done/]);
    expect(mostAtOnce()).toBe(4);
  });

  it('that fails at a dozen leads in a row gets the good one behind them within half a minute', async () => {
    const { target } = app((id) =>
      id.startsWith('bad') ? { answer: '500', status: 500, isDown: true } : ok,
    );
    const run = await start(target);
    for (let i = 0; i < 12; i += 1) await run.push(`bad${i}`);
    for (const id of ['good', 'better', 'best']) await run.push(id);
    await run.wait(30 * second);
    for (const id of ['good', 'better', 'best']) expect(await run.states(id)).toEqual(['done 1']);
  });

  it('that throws failed at that lead alone, which is tried again', async () => {
    let isBroken = true;
    const { target } = app((id) => {
      if (isBroken && id === 'a') throw new TypeError('not a function');
      return ok;
    });
    const run = await start(target);
    for (let i = 0; i < 6; i += 1) await run.push(i === 0 ? 'a' : `l${i}`);
    await run.wait(second);
    expect(await run.states('a')).toEqual(['waiting 1']);
    expect(await run.states('l5')).toEqual(['done 1']);
    expect(run.attempts[0]?.result.answer).toContain('not a function');
    isBroken = false;
    await run.wait(10 * second);
    expect(await run.states('a')).toEqual(['done 2']);
  });

  it('that takes leads one by one never has more than it has places for, also of one request', async () => {
    const { target, mostAtOnce } = app(
      async () => {
        await turn();
        return ok;
      },
      { isWhole: undefined, concurrency: 2 },
    );
    const run = await start(target);
    const ids = Array.from({ length: 20 }, (_, i) => `l${i}`);
    await run.push(...ids);
    await run.wait(60 * second);
    for (const id of ids) expect(await run.states(id)).toEqual(['done 1']);
    expect(mostAtOnce()).toBe(2);
  });

  it.each([
    { answer: '422', status: 422 },
    { answer: '500', status: 500, isDown: true },
  ] as const)('that fails at one lead alone, by %o, takes the others meanwhile', async (failure) => {
    const { target, attempts } = app((id) => (id === 'bad' ? failure : ok));
    const run = await start(target);
    for (const id of ['bad', 'a', 'b']) await run.push(id);
    await turns();
    expect(attempts).toEqual(['bad 1', 'a 1', 'b 1']);
    await run.wait(40 * second);
    await run.push('c');
    await turns();
    expect(await run.states('c')).toEqual(['done 1']);
    expect(await run.states('bad')).toMatchObject([/^waiting [34]$/]);
  });

  it('that asks for time gets no lead before', async () => {
    let answer: Answer = { answer: '429', status: 429, isDown: true, retryAfterMs: 60 * second };
    const { target, attempts } = app(() => answer);
    const run = await start(target);
    await run.push('a');
    await turns();
    await run.push('b');
    answer = ok;
    await run.wait(59 * second);
    expect(attempts).toEqual(['a 1']);
    await run.wait(5 * second);
    expect([...attempts].sort()).toEqual(['a 1', 'a 2', 'b 1']);
  });

  it('that never answers holds as many leads in memory as it takes at once, and every other one in the inbox', async () => {
    const { target, attempts } = app(() => new Promise(() => undefined));
    const run = await start(target);
    for (let i = 0; i < 300; i += 1) expect(await run.push(`l${i}`)).toMatchObject({ status: 200 });
    await run.wait(10 * second);
    expect(attempts).toHaveLength(4);
    expect(await run.inbox.targetCounts()).toMatchObject([{ waiting: 300 }]);
  });

  it('is given up for a lead after so long, which is said', async () => {
    const { target } = app(() => ({ answer: '422', status: 422 }), { giveUpMs: 12 * second });
    const run = await start(target);
    await run.push('a');
    await run.wait(20 * second);
    expect(await run.states('a')).toEqual(['dead 3']);
    expect(run.attempts.at(-1)).toMatchObject({ state: 'dead', retryInMs: undefined });
    expect(run.notes).toMatchObject([
      {
        isWarning: true,
        message: expect.stringContaining('1 lead is dead for forward http://app.test') as string,
      },
    ]);
  });

  it('is given up for every lead that waited too long while it is away, and for none that came since', async () => {
    const clock = new FakeClock();
    const { target } = app(() => down, { giveUpMs: hour });
    const run = await start(target, { clock });
    for (let i = 0; i < 20; i += 1) await run.push(`l${i}`);
    for (let i = 0; i < 60 * 4; i += 1) {
      clock.advance(60 * second);
      await turns();
      if (i === 200) await run.push('new');
    }
    expect(await run.inbox.targetCounts()).toMatchObject([{ waiting: 1, dead: 20 }]);
  });
});

describe('a worker', () => {
  it('sends what a receiver that was killed had claimed, once the claim has ended', async () => {
    const clock = new FakeClock();
    const dead = app(() => new Promise(() => undefined));
    const killed = await start(dead.target, { clock });
    await killed.push('a');
    killed.stopping.abort();
    const { target, attempts } = app(() => ok);
    const run = await start(target, { clock, inbox: killed.inbox });
    await run.wait(attemptMs);
    expect(attempts).toEqual([]);
    await run.wait(15 * second);
    expect(attempts).toEqual(['a 2']);
    expect(await run.states('a')).toEqual(['done 2']);
  });

  it('sends nothing twice while the inbox cannot write that it was delivered', async () => {
    let isFull = true;
    const wrap = (inbox: Inbox): Inbox => ({
      ...inbox,
      record: (records) => (isFull ? Promise.reject(new CannotStoreError('full')) : inbox.record(records)),
    });
    const { target, attempts } = app(() => ok);
    const run = await start(target, { wrap });
    await run.push('a');
    await run.wait(100 * second);
    expect(run.attempts).toEqual([]);
    isFull = false;
    await run.wait(2 * second);
    expect(attempts).toEqual(['a 1']);
    expect(await run.states('a')).toMatchObject([/^done/]);
    expect(run.notes).toContainEqual({
      kind: 'forwards-stopped',
      message: 'leads that wait are not forwarded now: full',
      cause: 'full',
    });
  });

  it('begins no attempt that might outlive its claim', async () => {
    const clock = new FakeClock();
    const { target, attempts } = app(() => ok);
    const wrap = (inbox: Inbox): Inbox => ({
      ...inbox,
      async take(arrivals) {
        const results = await inbox.take(arrivals);
        if (arrivals[0]?.leadId === 'a') clock.advance(6 * second);
        return results;
      },
    });
    const run = await start(target, { clock, wrap });
    await run.push('a');
    await turns();
    expect(await run.states('a')).not.toEqual(['done 1']);
    await run.wait(3 * second);
    expect(attempts).toEqual(['a 1']);
  });

  it('leaves what is cut at the end due at once, and says nothing against the target', async () => {
    let end: (result: Answer) => void = () => undefined;
    const { target } = app(
      () => new Promise<Partial<TargetResult>>((resolve) => (end = resolve as typeof end)),
    );
    const run = await start(target);
    await run.push('a');
    run.stopping.abort();
    await run.running;
    run.cut.abort();
    end({ ...down, answer: 'given up at the end' });
    await run.worker.idle();
    expect(await run.states('a')).toEqual(['waiting 1']);
    expect(await run.inbox.nextDueIn(target.name)).toBeLessThanOrEqual(0);
  });

  it('takes a command that others ended at the stop for no failure of it', async () => {
    const { target } = app(() => ({ answer: 'ended by SIGTERM', isInterrupted: true }), { giveUpMs: 0 });
    const run = await start(target);
    run.ending.abort();
    await run.push('a');
    await turns();
    expect(await run.states('a')).toEqual(['waiting 1']);
    expect(await run.inbox.nextDueIn(target.name)).toBe(5 * second);
  });

  it('holds no lead for one that cannot be read', async () => {
    const { target, attempts } = app(() => down);
    const run = await start(target, {
      wrap: (inbox) => ({
        ...inbox,
        async *list(query) {
          for await (const delivery of inbox.list(query))
            yield delivery.leadId === 'bad' ? { ...delivery, body: Buffer.from('{') } : delivery;
        },
      }),
    });
    await run.push('bad');
    await run.push('a');
    await run.wait(30 * second);
    expect(attempts.filter((one) => one.startsWith('bad'))).toEqual(['bad 1']);
    expect(attempts.filter((one) => one.startsWith('a')).length).toBeGreaterThan(1);
    expect(run.notes).toMatchObject([{ kind: 'lead-not-sent', cause: 'bad' }, {}]);
  });
});
