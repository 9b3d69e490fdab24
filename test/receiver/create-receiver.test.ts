import { describe, expect, it } from 'vitest';
import { sentenceOf } from '../../src/messages/find-message.ts';
import { CannotStoreError, type Inbox } from '../../src/inbox/inbox.ts';
import { openInbox } from '../../src/inbox/open-inbox.ts';
import type { LeadAt } from '../../src/lead/read-leads.ts';
import type { AnsweredDelivery } from '../../src/receiver/receiver-events.ts';
import { deliveryOfPulledLead } from '../../src/receiver/backfill.ts';
import { createReceiver, type Receiver } from '../../src/receiver/create-receiver.ts';
import { inboxRequirements } from '../../src/receiver/inbox-requirements.ts';
import type { ReceiverNote } from '../../src/receiver/problems.ts';
import type { Target } from '../../src/receiver/targets/target.ts';
import { Secret } from '../../src/secret.ts';
import type { Delivery } from '../../src/webhook/delivery.ts';
import { rejection } from '../../src/webhook/delivery-answer.ts';
import { schemeNamed } from '../../src/webhook/scheme-registry.ts';
import { FakeClock } from '../support/clock.ts';

const clock = new FakeClock();
const scheme = schemeNamed('token');
const tokens = ['current-token', 'former-token'];
const policy = { path: undefined, scheme, keys: tokens.map((token) => scheme.key(new Secret(token))) };

interface Started extends Receiver {
  readonly answered: AnsweredDelivery[];
  readonly notes: ReceiverNote[];
}

/** A receiver over an inbox in memory, and the events of its deliveries. */
async function start(...targets: Target[]): Promise<Started> {
  return startOn(
    await openInbox({ location: ':memory:', clock, ...inboxRequirements(policy, targets) }),
    targets,
  );
}

function startOn(inbox: Inbox, targets: readonly Target[], leadAt: LeadAt = 'auto'): Started {
  const notes: ReceiverNote[] = [];
  const note = (found: ReceiverNote): void => void notes.push(found);
  const receiver = createReceiver({
    policy: { ...policy, leadAt },
    inbox,
    targets,
    clock,
    note,
    sentenceOf,
  });
  const answered: AnsweredDelivery[] = [];
  receiver.events.subscribe((event) => void answered.push(event));
  return { ...receiver, answered, notes };
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

/** A target whose next results the test gives, in order; the last one is repeated. */
function target(name: string, results: readonly boolean[], bestEffort = false): Target & { leads: string[] } {
  const leads: string[] = [];
  return {
    name,
    bestEffort,
    leads,
    deliver(_, delivered) {
      return delivered.map(({ leadId }) => {
        const ok = results[Math.min(leads.length, results.length - 1)] === true;
        leads.push(leadId);
        return Promise.resolve({ to: 'forward', ok, answer: ok ? '200' : '500', durationMs: 1 } as const);
      });
    },
  };
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

  it('keeps secrets out of the path of an event', async () => {
    const receiver = await start();
    await receiver.handle(deliveryOf('{"id":"a"}', 'current-token', '/hook?token=current-token'));
    expect(receiver.answered[0]?.path).toBe('/hook?token=[redacted]');
  });

  it('notes that a former secret is still used', async () => {
    const receiver = await start();
    await receiver.handle(deliveryOf('{"id":"a"}', 'former-token'));
    expect(receiver.notes).toEqual([{ kind: 'former-secret-used', number: 2, secrets: 2 }]);
  });

  it('takes a pulled lead as if it had been pushed, and knows it when it is pushed', async () => {
    const receiver = await start();
    const bytes = Buffer.from('{"id":"a"}');
    const lead = { bytes, id: 'a', createdAt: undefined, category: undefined };
    const pulled = deliveryOfPulledLead(lead, new URL('https://service.test/api'), clock.now());
    expect(await receiver.handleChecked(pulled, 'backfill')).toMatchObject({ body: { status: 'accepted' } });
    expect(await receiver.handle(deliveryOf('{"id":"a"}'))).toMatchObject({ body: { status: 'duplicate' } });
    expect(receiver.answered[0]).toMatchObject({ source: 'backfill', remote: 'service.test' });
  });

  it('emits a request that was rejected before it was complete', async () => {
    const receiver = await start();
    const tooLarge = rejection('too_large', 'more than 1 MiB');
    expect(await receiver.handleRejected(deliveryOf(''), tooLarge)).toMatchObject({ status: 413 });
    expect(receiver.answered).toMatchObject([{ verdict: 'rejected', reason: 'too_large' }]);
  });
});

describe('the targets of a receiver', () => {
  it('get a lead again until all of them have taken it, each no more often than needed', async () => {
    const [first, second] = [target('first', [true]), target('second', [false, true])];
    const receiver = await start(first, second);
    const statuses: number[] = [];
    for (let i = 0; i < 3; i += 1) statuses.push((await receiver.handle(deliveryOf('{"id":"a"}'))).status);
    expect(statuses).toEqual([502, 200, 200]);
    expect([first.leads, second.leads]).toEqual([['a'], ['a', 'a']]);
    expect(receiver.answered.map(({ verdict }) => verdict)).toEqual(['pending', 'accepted', 'duplicate']);
    expect(receiver.answered.map(({ targetResults }) => targetResults?.map(({ ok }) => ok))).toEqual([
      [true, false],
      [true],
      undefined,
    ]);
  });

  it('are said to have had one lead of a delivery where that cannot be written of another', async () => {
    const app = target('app', [true]);
    const inbox = await openInbox({ location: ':memory:', clock, ...inboxRequirements(policy, [app]) });
    let isFull = true;
    const settle: Inbox['settle'] = (leases) =>
      isFull && leases[0]?.leadId === 'b'
        ? Promise.reject(new CannotStoreError('full'))
        : inbox.settle(leases);
    const receiver = startOn({ ...inbox, settle }, [app], ['data']);
    const both = deliveryOf('{"data":[{"id":"a"},{"id":"b"}]}');
    expect(await receiver.handle(both)).toMatchObject({ status: 503, body: { error: 'cannot_store' } });
    isFull = false;
    expect(await receiver.handle(both)).toMatchObject({ status: 200 });
    const accepted = receiver.answered.filter(({ verdict }) => verdict === 'accepted');
    expect(accepted.map(({ leadId, status }) => [leadId, status])).toEqual([
      ['a', 503],
      ['b', 200],
    ]);
  });

  it('may fail where they are best effort', async () => {
    const failing = target('app', [false], true);
    const receiver = await start(failing);
    expect(await receiver.handle(deliveryOf('{"id":"a"}'))).toMatchObject({ body: { status: 'accepted' } });
    expect(await receiver.handle(deliveryOf('{"id":"a"}'))).toMatchObject({ body: { status: 'duplicate' } });
    expect(failing.leads).toEqual(['a']);
  });
});

describe('the events of a receiver', () => {
  it('hold the answer back while a listener has no room, and the receiver is not idle until then', async () => {
    const receiver = await start();
    let makeRoom: () => void = () => undefined;
    receiver.events.subscribe(() => new Promise<void>((resolve) => (makeRoom = resolve)));
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
    const end = receiver.events.subscribe(() => {
      throw new Error('a bug');
    });
    await expect(receiver.handle(deliveryOf('{"id":"a"}'))).rejects.toThrow('a bug');
    await receiver.idle();
    end();
    expect(await receiver.handle(deliveryOf('{"id":"a"}'))).toMatchObject({ body: { status: 'duplicate' } });
  });
});
