import { describe, expect, it } from 'vitest';
import { CannotStoreError } from '../../src/inbox/errors.ts';
import type { Inbox } from '../../src/inbox/inbox.ts';
import { openInbox } from '../../src/inbox/open-inbox.ts';
import type { LeadAt } from '../../src/lead/read-leads.ts';
import type { AnsweredDelivery } from '../../src/receiver/receiver-events.ts';
import { deliveryOfPulledLead } from '../../src/receiver/backfill.ts';
import type { ReceiverNote } from '../../src/receiver/errors.ts';
import {
  createReceiver,
  inboxRequirements,
  type Receiver,
  type ReceiverOptions,
} from '../../src/receiver/receiver.ts';
import type { DeliveryWorker } from '../../src/receiver/forward-worker.ts';
import { Secret } from '../../src/secret.ts';
import type { Delivery } from '../../src/webhook/delivery.ts';
import { rejection } from '../../src/webhook/delivery-answer.ts';
import { schemeNamed } from '../../src/webhook/scheme-registry.ts';
import { FakeClock } from '../support/clock.ts';

const clock = new FakeClock();
const scheme = schemeNamed('token');
const tokens = ['current-token', 'former-token'];
const verifier = { scheme, keys: tokens.map((token) => scheme.key(new Secret(token))) };

interface Started extends Receiver {
  readonly answered: AnsweredDelivery[];
  readonly notes: ReceiverNote[];
  /** Called after each event. */
  onEvent: ReceiverOptions['onAnswered'];
}

/** A receiver over an inbox in memory, and the events of its deliveries. */
async function start(...workers: DeliveryWorker[]): Promise<Started> {
  return startOn(await openFor(workers), workers);
}

const openFor = (workers: readonly DeliveryWorker[]): Promise<Inbox> => {
  const targets = workers.map(({ target }) => target);
  return openInbox({ location: ':memory:', clock, ...inboxRequirements(verifier, targets, 1000) });
};

function startOn(inbox: Inbox, workers: readonly DeliveryWorker[], leadAt: LeadAt = 'auto'): Started {
  const notes: ReceiverNote[] = [];
  const note = (found: ReceiverNote): void => void notes.push(found);
  const answered: AnsweredDelivery[] = [];
  const started = { answered, notes, onEvent: (): Promise<void> | void => undefined };
  const receiver = createReceiver({
    verifier,
    place: { path: undefined, leadAt },
    otherEvents: { areTaken: false, option: '' },
    onAnswered(event) {
      answered.push(event);
      return started.onEvent();
    },
    inbox,
    workers,
    clock,
    note,
  });
  return Object.assign(started, receiver);
}

const deliveryOf = (body: string, token = 'current-token', path = '/'): Delivery => ({
  method: 'POST',
  path,
  url: `https://localhost${path}`,
  rawHeaders: [
    ['content-type', 'application/json'],
    ['x-webhook-token', token],
  ],
  body: Buffer.from(body),
  remote: '127.0.0.1',
  receivedAt: clock.now(),
});

/** A worker that has so many places, and what it was given: leads that it sends, or `wake`. */
function worker(name: string, places: number, takes?: (id: string | undefined) => boolean) {
  const given: string[] = [];
  let free = places;
  const one: DeliveryWorker = {
    target: {
      name,
      takes: takes && (({ id }) => takes(id)),
      concurrency: places,
      deliver: () => Promise.reject(new Error('nothing is delivered')),
    },
    reserve(leads) {
      if (leads > free) return false;
      free -= leads;
      return true;
    },
    send(checked, claims, reserved) {
      free += reserved;
      for (const { leadId, tries } of claims) given.push(`${leadId} ${tries} of ${checked.leads.length}`);
    },
    wake: () => void given.push('wake'),
  };
  return { ...one, given, free: () => free };
}

describe('a receiver without a socket', () => {
  it('answers a new lead, its repetition, and a forgery, and emits an event of each', async () => {
    const receiver = await start();
    const answers = [
      await receiver.handle(deliveryOf('{ "id": "a", "x": 1.0 }')),
      await receiver.handle(deliveryOf('{ "id": "a", "x": 2.0 }')),
      await receiver.handle(deliveryOf('{ "id": "a" }', 'forged')),
    ];
    expect(answers.map(({ status, body }) => [status, body['status'] ?? body['error']])).toEqual([
      [200, 'accepted'],
      [200, 'duplicate'],
      [401, 'wrong_credential'],
    ]);
    const [first, second, forged] = receiver.answered;
    expect(first).toMatchObject({ verdict: 'accepted', source: 'push', leadId: 'a', attempt: 1 });
    expect(Buffer.from(first?.lead ?? []).toString()).toBe('{"id":"a","x":1.0}');
    expect(second).toMatchObject({ verdict: 'duplicate', attempt: 2, differs: ['x'] });
    expect(forged).toMatchObject({ verdict: 'rejected', status: 401, reason: 'wrong_credential' });
    expect(forged?.lead).toBeUndefined();
  });

  it('notes that a former secret is still used', async () => {
    const receiver = await start();
    await receiver.handle(deliveryOf('{"id":"a"}', 'former-token'));
    expect(receiver.notes).toMatchObject([{ message: 'deliveries still use secret 2 of 2' }]);
  });

  it('takes a pulled lead as if it had been pushed, and knows it when it is pushed', async () => {
    const receiver = await start();
    const bytes = Buffer.from('{"id":"a"}');
    const lead = { bytes, id: 'a', createdAt: undefined, category: undefined };
    const pulled = deliveryOfPulledLead(lead, new URL('https://service.test/api'), clock.now());
    expect(await receiver.handleChecked(pulled, 'backfill')).toMatchObject({ body: { status: 'accepted' } });
    expect(await receiver.handle(deliveryOf('{"id":"a"}'))).toMatchObject({ body: { status: 'duplicate' } });
    expect(receiver.answered[0]).toMatchObject({ source: 'backfill', delivery: { remote: 'service.test' } });
  });

  it('emits a request that was rejected before it was complete', async () => {
    const receiver = await start();
    const tooLarge = rejection('too_large', 'more than 1 MiB');
    expect(await receiver.handleRejected(deliveryOf(''), tooLarge)).toMatchObject({ status: 413 });
    expect(receiver.answered).toMatchObject([{ verdict: 'rejected', reason: 'too_large' }]);
  });
});

describe('the workers of a receiver', () => {
  it('get new leads once those are stored, and no repeats', async () => {
    const app = worker('app', 9);
    const inbox = await openFor([app]);
    const receiver = startOn(inbox, [app], ['data']);
    const both = '{"data":[{"id":"a"},{"id":"b"}]}';
    expect(await receiver.handle(deliveryOf(both))).toMatchObject({ status: 200 });
    expect(app.given).toEqual(['a 1 of 2', 'b 1 of 2']);
    await receiver.handle(deliveryOf('{"data":[{"id":"b"},{"id":"c"}]}'));
    expect(app.given.slice(2)).toEqual(['c 1 of 2']);
    expect(await receiver.handle(deliveryOf(both))).toMatchObject({ body: { status: 'duplicate' } });
    expect(app.given).toHaveLength(3);
    expect(app.free()).toBe(9);
    // They are claimed, so that nobody else sends them.
    expect(await inbox.claim('app', 9)).toEqual([]);
  });

  it('find in the inbox what they have no place for', async () => {
    const [full, app] = [worker('full', 0), worker('app', 9)];
    const inbox = await openFor([full, app]);
    const receiver = startOn(inbox, [full, app]);
    await receiver.handle(deliveryOf('{"id":"a"}'));
    expect([full.given, app.given]).toEqual([['wake'], ['a 1 of 1']]);
    expect(await inbox.claim('full', 9)).toMatchObject([{ leadId: 'a', tries: 1 }]);
  });

  it('get the leads that their targets take, and it is said where none does', async () => {
    const [odd, even] = [worker('odd', 9, (id) => id === '1'), worker('even', 9, (id) => id === '2')];
    const receiver = await start(odd, even);
    for (const id of ['1', '2', '3']) await receiver.handle(deliveryOf(`{"id":"${id}"}`));
    expect([odd.given, even.given]).toEqual([['1 1 of 1'], ['2 1 of 1']]);
    expect(receiver.notes).toMatchObject([{ message: expect.stringContaining("the lead '3'") as string }]);
  });

  it('have their places back, and no lead, where the inbox cannot store it', async () => {
    const app = worker('app', 9);
    const inbox = await openFor([app]);
    const receiver = startOn({ ...inbox, take: () => Promise.reject(new CannotStoreError('full')) }, [app]);
    expect(await receiver.handle(deliveryOf('{"id":"a"}'))).toMatchObject({
      status: 503,
      body: { error: 'cannot_store' },
    });
    expect(app.given).toEqual([]);
    expect(app.free()).toBe(9);
  });

  it('get nothing of a lead that was erased, which came with others', async () => {
    const app = worker('app', 9);
    const inbox = await openFor([app]);
    const receiver = startOn(inbox, [app], ['data']);
    await receiver.handle(deliveryOf('{"data":[{"id":"a"}]}'));
    await inbox.erase({ leadIds: ['a'], rejected: [] });
    await receiver.handle(deliveryOf('{"data":[{"id":"a"},{"id":"b"}]}'));
    expect(app.given).toEqual(['a 1 of 1', 'b 1 of 1']);
    expect(receiver.answered.map(({ lead }) => lead === undefined)).toEqual([false, true, false]);
  });
});

describe('the events of a receiver', () => {
  it('hold the answer back while a listener has no room, and the receiver is not idle until then', async () => {
    const receiver = await start();
    let makeRoom: () => void = () => undefined;
    receiver.onEvent = () => new Promise<void>((resolve) => (makeRoom = resolve));
    const done: string[] = [];
    const answer = receiver.handle(deliveryOf('{"id":"a"}')).then(() => done.push('answered'));
    await expect.poll(() => receiver.answered).toHaveLength(1);
    const idle = receiver.idle().then(() => done.push('idle'));
    await new Promise(setImmediate);
    expect(done).toEqual([]);
    makeRoom();
    await Promise.all([answer, idle]);
    expect(done.sort()).toEqual(['answered', 'idle']);
  });

  it('fail the delivery whose listener throws, and leave the receiver idle', async () => {
    const receiver = await start();
    receiver.onEvent = () => {
      throw new Error('a bug');
    };
    await expect(receiver.handle(deliveryOf('{"id":"a"}'))).rejects.toThrow('a bug');
    await receiver.idle();
    receiver.onEvent = () => undefined;
    expect(await receiver.handle(deliveryOf('{"id":"a"}'))).toMatchObject({ body: { status: 'duplicate' } });
  });
});
