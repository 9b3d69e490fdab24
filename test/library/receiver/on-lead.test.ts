import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import {
  createReceiver,
  fileInbox,
  type Lead,
  type LeadContext,
  memoryInbox,
  type ReceivedDelivery,
  type ReceiverOptions,
  type WebhookReceiver,
} from '../../../src/library/receiver.ts';
import { sign } from '../../../src/library/webhook.ts';
import { FakeClock } from '../../support/clock.ts';
import { until } from '../../support/until.ts';

const choice = { scheme: 'github', secrets: 'octo' } as const;

/** A receiver on a clock that stands still, with all that it said. */
function start(onLead: ReceiverOptions['onLead'], more: Partial<ReceiverOptions> = {}) {
  const clock = new FakeClock();
  const errors: unknown[] = [];
  const warnings: string[] = [];
  const deliveries: ReceivedDelivery[] = [];
  const receiver = createReceiver({
    ...choice,
    inbox: memoryInbox(),
    onLead,
    clock,
    onError: (error) => errors.push(error),
    onWarning: (text) => warnings.push(text),
    onDelivery: (delivery) => deliveries.push(delivery),
    ...more,
  });
  onTestFinished(() => receiver.close());
  return { receiver, clock, errors, warnings, deliveries };
}

async function deliver(receiver: WebhookReceiver, lead: string | object): Promise<Response> {
  const signed = await sign(lead as Record<string, unknown>, choice);
  return receiver.fetch(new Request('https://app.test/leads', signed));
}

const freshFile = (): string => join(mkdtempSync(join(tmpdir(), 'leads-library-')), 'inbox.db');

test('a lead that onLead does not take is answered 502, and the retry is handed over again', async () => {
  const attempts: number[] = [];
  const { receiver, errors, deliveries } = start((_, { attempt }) => {
    attempts.push(attempt);
    if (attempt === 1) throw new Error('the database is away');
  });
  const first = await deliver(receiver, { id: 'a' });
  expect(first.status).toBe(502);
  expect(await first.json()).toEqual({ error: 'not_forwarded', message: 'stored, but not yet passed on' });
  expect((await deliver(receiver, { id: 'a' })).status).toBe(200);
  expect((await deliver(receiver, { id: 'a' })).status).toBe(200);
  expect(attempts).toEqual([1, 2]);
  expect(errors).toEqual([new Error('the database is away')]);
  expect(deliveries.map(({ verdict, attempt }) => [verdict, attempt])).toEqual([
    ['pending', 1],
    ['accepted', 2],
    ['duplicate', 3],
  ]);
});

test('a call that hangs is aborted and answered 502, and the retry is handed over again', async () => {
  const contexts: LeadContext[] = [];
  const { receiver, clock, errors } = start(
    (_, context) => {
      contexts.push(context);
      return context.attempt === 1 ? new Promise(() => undefined) : undefined;
    },
    { onLeadTimeoutMs: 3000 },
  );
  const answer = deliver(receiver, { id: 'a' });
  await until(() => contexts.length === 1);
  expect(contexts[0]?.signal.aborted).toBe(false);
  clock.advance(3000);
  expect((await answer).status).toBe(502);
  expect(contexts[0]?.signal.aborted).toBe(true);
  expect(errors).toMatchObject([{ name: 'TimeoutError', message: 'no result within 3 s' }]);
  expect((await deliver(receiver, { id: 'a' })).status).toBe(200);
  expect(contexts.map(({ attempt }) => attempt)).toEqual([1, 2]);
});

/** Some inboxes have pauses of their own, which are told apart by their length. */
const retryEveryMs = 1100;

test('what is outstanding is handed over after an interval, without another delivery', async () => {
  const taken: [string, number][] = [];
  let isAway = true;
  const { receiver, clock } = start(
    (lead, { attempt }) => {
      if (isAway) throw new Error('away');
      taken.push([lead.id, attempt]);
    },
    { retryEveryMs },
  );
  await receiver.ready();
  expect((await deliver(receiver, { id: 'a' })).status).toBe(502);
  isAway = false;
  await until(() => clock.sleeps.includes(retryEveryMs));
  // A lead counts as being handed over until the end of this turn of the event loop.
  await setImmediate();
  clock.advance(retryEveryMs);
  await until(() => taken.length === 1);
  expect(taken).toEqual([['a', 2]]);
  expect((await deliver(receiver, { id: 'a' })).status).toBe(200);
  expect(taken).toHaveLength(1);
});

test('what was tried a moment ago is left to the retries of the sender', async () => {
  let calls = 0;
  const { receiver, clock } = start(
    () => {
      calls += 1;
      throw new Error('away');
    },
    { retryEveryMs },
  );
  await receiver.ready();
  await until(() => clock.sleeps.includes(retryEveryMs));
  clock.advance(600);
  expect((await deliver(receiver, { id: 'a' })).status).toBe(502);
  // A lead counts as being handed over until the end of this turn of the event loop.
  await setImmediate();
  clock.advance(retryEveryMs - 600);
  await until(() => clock.sleeps.filter((ms) => ms === retryEveryMs).length === 2);
  expect(calls).toBe(1);
  clock.advance(retryEveryMs);
  await until(() => calls === 2);
});

test('a file keeps what is outstanding, and the next start hands it over as it came', async () => {
  const inbox = fileInbox(freshFile());
  const lead = '{"id":7,"amount":12345678901234567890.10}';
  const first = start(() => Promise.reject(new Error('away')), { inbox });
  expect((await deliver(first.receiver, lead)).status).toBe(502);
  await first.receiver.close();
  const taken: [Lead, number][] = [];
  const second = start((one, { attempt }) => taken.push([one, attempt]), { inbox });
  await until(() => taken.length === 1);
  const [one, attempt] = taken[0] ?? [];
  expect([one?.id, Buffer.from(one?.bytes ?? []).toString(), attempt]).toEqual(['7', lead, 2]);
  await second.receiver.close();
  const third = start((other) => taken.push([other, 0]), { inbox });
  expect((await deliver(third.receiver, lead)).status).toBe(200);
  expect(taken).toHaveLength(1);
});

test('an application with another name gets the leads of the same inbox as well', async () => {
  const inbox = fileInbox(freshFile());
  const calls: string[] = [];
  const first = start(() => calls.push('onLead'), { inbox });
  await deliver(first.receiver, { id: 'a' });
  await first.receiver.close();
  const second = start(() => calls.push('mailer'), { inbox, name: 'mailer' });
  await deliver(second.receiver, { id: 'a' });
  expect(calls).toEqual(['onLead', 'mailer']);
});

test('several leads of one delivery are handed over each, and answered together', async () => {
  const taken: string[] = [];
  const { receiver } = start(
    (lead) => {
      if (lead.id === 'b' && !taken.includes('a')) throw new Error('not yet');
      taken.push(lead.id);
    },
    { leadAt: '/data' },
  );
  const body = { event: 'leads', data: [{ id: 'b' }, { id: 'a' }] };
  expect((await deliver(receiver, body)).status).toBe(502);
  const answer = await deliver(receiver, body);
  expect(answer.status).toBe(200);
  expect(await answer.json()).toEqual({
    status: 'accepted',
    leads: [
      { status: 'accepted', id: 'b' },
      { status: 'duplicate', id: 'a' },
    ],
  });
  expect(taken).toEqual(['a', 'b']);
});

test('a lead whose id is another field is handed over, again as well', async () => {
  const tries: string[] = [];
  const { receiver } = start(
    ({ id, value }) => {
      tries.push(`${id} ${JSON.stringify(value)}`);
      if (tries.length === 1) throw new Error('not yet');
    },
    { idField: 'uuid' },
  );
  expect((await deliver(receiver, { uuid: 'a', category: 'x' })).status).toBe(502);
  expect(await (await deliver(receiver, { uuid: 'a', category: 'x' })).json()).toEqual({
    status: 'accepted',
    id: 'a',
  });
  expect(tries).toEqual(Array.from({ length: 2 }, () => 'a {"uuid":"a","category":"x"}'));
});

test('one lead is never handed over twice at the same time', async () => {
  let running = 0;
  let most = 0;
  const { receiver } = start(async () => {
    running += 1;
    most = Math.max(most, running);
    await setImmediate();
    running -= 1;
  });
  const answers = await Promise.all(Array.from({ length: 20 }, () => deliver(receiver, { id: 'a' })));
  expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 200));
  expect(most).toBe(1);
});

test('close waits for what is in flight, and then takes nothing more', async () => {
  let finish: (() => void) | undefined;
  const { receiver } = start(() => new Promise<void>((resolve) => (finish = resolve)));
  const answer = deliver(receiver, { id: 'a' });
  await until(() => finish !== undefined);
  let isClosed = false;
  const closed = receiver.close().then(() => (isClosed = true));
  const late = await deliver(receiver, { id: 'b' });
  expect([late.status, late.headers.get('retry-after')]).toEqual([503, '5']);
  expect(isClosed).toBe(false);
  finish?.();
  expect((await answer).status).toBe(200);
  await closed;
  await receiver.close();
});

test('an inbox that cannot be opened is answered 503, said, and tried again', async () => {
  const real = memoryInbox();
  let isAway = true;
  const inbox: ReceiverOptions['inbox'] = {
    open: (requirements) => (isAway ? Promise.reject(new Error('no database')) : real.open(requirements)),
  };
  const { receiver, errors } = start(() => undefined, { inbox });
  expect((await deliver(receiver, { id: 'a' })).status).toBe(503);
  await expect(receiver.ready()).rejects.toThrow('no database');
  isAway = false;
  expect((await deliver(receiver, { id: 'a' })).status).toBe(200);
  expect(errors.length).toBeGreaterThan(0);
});

test('a hook that throws does not fail the delivery, and an old secret is said', async () => {
  const { receiver, errors, warnings } = start(() => undefined, {
    secrets: ['new', 'octo'],
    onDelivery: () => {
      throw new Error('the hook');
    },
  });
  expect((await deliver(receiver, { id: 'a' })).status).toBe(200);
  expect(errors).toEqual([new Error('the hook')]);
  expect(warnings).toEqual(['deliveries still use secret 2 of 2']);
});

test('a hook for errors that fails harms nobody', async () => {
  let calls = 0;
  const onError = () => {
    calls += 1;
    throw new Error('a hook that fails on purpose, shown here');
  };
  const onDelivery = () => Promise.reject(new Error('another hook'));
  const { receiver } = start(() => undefined, { onDelivery, onError });
  expect((await deliver(receiver, { id: 'a' })).status).toBe(200);
  await until(() => calls === 1);
});

test.each<[string, Partial<Record<keyof ReceiverOptions, unknown>>]>([
  ['onLead is no function', { onLead: undefined }],
  ['no inbox is given', { inbox: undefined }],
  ["path 'leads' does not begin with /", { path: 'leads' }],
  ["name 'a b' is not", { name: 'a b' }],
  ["the webhook scheme 'strip' is unknown", { scheme: 'strip' }],
  ['no secret is given', { secrets: [] }],
  ['secret 1 is undefined', { secrets: undefined }],
  ['concurrency must be', { concurrency: 0 }],
  ['onLeadTimeoutMs must be', { onLeadTimeoutMs: 2 ** 31 }],
  ["leadAt 'data' is no JSON Pointer", { leadAt: 'data' }],
])('%s: an error at once', (message, wrong) => {
  const options = { ...choice, inbox: memoryInbox(), onLead: () => undefined, ...wrong } as ReceiverOptions;
  expect(() => createReceiver(options)).toThrow(message);
});

test.each(['', ':memory:', undefined])("'%s' is no file", (path) => {
  expect(() => fileInbox(path)).toThrow('is no path of a file');
});

test.each(['postgres://leads:hunter22@db/leads', 'mysql5://a:hunter22@db/x'])(
  '%s is no file either, and is not shown',
  (url) => {
    expect(() => fileInbox(url)).not.toThrow(/hunter22/);
    expect(() => fileInbox(url)).toThrow('fileInbox was given a URL');
  },
);
