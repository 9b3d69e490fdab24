import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { CannotStoreError } from '../../../src/inbox/inbox.ts';
import {
  ConfigError,
  createReceiver,
  fileInbox,
  type InboxOpener,
  memoryInbox,
  type ReceiverInbox,
  type ReceiverOptions,
  type WebhookReceiver,
} from '../../../src/library/receiver.ts';
import { errorText } from '../../../src/library/receiver/checked-options.ts';
import { sign } from '../../../src/library/webhook.ts';
import { FakeClock } from '../../support/clock.ts';

const choice = { scheme: 'github', secrets: 'octo' } as const;

function start(more: Partial<ReceiverOptions> = {}) {
  const errors: [unknown, string | undefined][] = [];
  const receiver = createReceiver({
    ...choice,
    inbox: memoryInbox(),
    onLead: () => undefined,
    onError: (error, { leadId }) => errors.push([error, leadId]),
    ...more,
  });
  onTestFinished(() => receiver.close());
  return { receiver, errors };
}

async function deliver(receiver: WebhookReceiver, lead: Readonly<Record<string, unknown>>): Promise<number> {
  return (await receiver.fetch(new Request('https://app.test/leads', await sign(lead, choice)))).status;
}

/** An inbox in memory of which some methods do something else. */
const inboxWith = (changed: Partial<ReceiverInbox>): InboxOpener => ({
  async open(requirements) {
    const inbox = await memoryInbox().open(requirements);
    return new Proxy(inbox, {
      get(_, name: keyof ReceiverInbox) {
        const own: unknown = changed[name] ?? inbox[name];
        return typeof own === 'function' ? (own.bind(inbox) as unknown) : own;
      },
    });
  },
});

test.each(['take', 'settle'] as const)('what the inbox cannot store (%s) is told, once', async (method) => {
  const full = new CannotStoreError('no space left on the device');
  const { receiver, errors } = start({ inbox: inboxWith({ [method]: () => Promise.reject(full) }) });
  expect(await deliver(receiver, { id: 'a' })).toBe(503);
  expect(errors).toEqual([[full, 'a']]);
});

test('a failure of another kind is told once as well', async () => {
  const bug = new Error('a bug in an inbox of the application');
  const { receiver, errors } = start({ inbox: inboxWith({ take: () => Promise.reject(bug) }) });
  expect(await deliver(receiver, { id: 'a' })).toBe(503);
  expect(errors).toEqual([[bug, undefined]]);
});

test('a hint names options in place of flags', async () => {
  const file = join(mkdtempSync(join(tmpdir(), 'leads-library-')), 'text.db');
  writeFileSync(file, 'this is no database\n'.repeat(1000));
  const { receiver } = start({ inbox: fileInbox(file) });
  await expect(receiver.ready()).rejects.toMatchObject({
    name: 'ConfigError',
    hint: 'move it away, or name another inbox',
  });
});

test('a command that helps stays as it is in a hint', async () => {
  const hint = "'sqlite3 /data/leads.db .recover | sqlite3 NEW' saves what it still holds";
  const damaged = new CannotStoreError('the database is damaged', { hint });
  const { receiver, errors } = start({ inbox: inboxWith({ take: () => Promise.reject(damaged) }) });
  expect(await deliver(receiver, { id: 'a' })).toBe(503);
  expect(errors).toMatchObject([[{ hint }, 'a']]);
});

test('the console gets the hint, and of an error of the application where it was thrown', () => {
  expect(errorText(new CannotStoreError('no space left', { hint: 'free some' }))).toBe(
    'no space left. free some',
  );
  const error = Object.assign(new TypeError('a bug'), { password: 'hunter22' });
  expect(errorText(error)).toMatch(/^TypeError: a bug\n +at .*failures\.test/);
  expect(errorText(error)).not.toContain('hunter22');
  expect(errorText(undefined)).toBe('undefined');
});

test('leads that wait for a place are no leak of listeners', async () => {
  const warnings: string[] = [];
  const onWarning = ({ name }: Error): void => void warnings.push(name);
  process.on('warning', onWarning);
  onTestFinished(() => void process.off('warning', onWarning));
  let going: () => void = () => undefined;
  const gate = new Promise<void>((resolve) => (going = resolve));
  let calls = 0;
  const { receiver } = start({ concurrency: 1, onLead: () => ((calls += 1), gate) });
  const answers = Array.from({ length: 20 }, (_, i) => deliver(receiver, { id: `lead_${i}` }));
  await expect.poll(() => calls).toBe(1);
  going();
  expect(new Set(await Promise.all(answers))).toEqual(new Set([200]));
  expect(warnings).toEqual([]);
});

test('a receiver that is closed opens no inbox any more', async () => {
  let opened = 0;
  const inbox: InboxOpener = {
    open: () => {
      opened += 1;
      return Promise.reject(new Error('away'));
    },
  };
  const { receiver } = start({ inbox });
  await expect(receiver.ready()).rejects.toThrow('away');
  await receiver.close();
  const before = opened;
  await expect(receiver.ready()).rejects.toThrow('the receiver is closed');
  expect(opened).toBe(before);
});

test('null is no inbox', () => {
  expect(() => start({ inbox: null as never })).toThrow(ConfigError);
});

test('an inbox of the application needs the members that are documented, and no others', async () => {
  const names = ['take', 'reject', 'settle', 'release', 'lease', 'unsettled', 'list', 'close'] as const;
  const { receiver, errors } = start({
    inbox: {
      async open(requirements) {
        const inbox = await memoryInbox().open(requirements);
        const own = names.map((name) => [name, (inbox[name] as () => unknown).bind(inbox)]);
        return Object.fromEntries(own) as ReceiverInbox;
      },
    },
  });
  expect(await deliver(receiver, { id: 'a' })).toBe(200);
  expect(await deliver(receiver, { id: 'a' })).toBe(200);
  expect(errors).toEqual([]);
});

test('a verifier of your own decides, also over a large body, and never takes what it did not answer', async () => {
  const taken: string[] = [];
  const { receiver, errors } = start({
    secrets: undefined,
    scheme: ({ headers }) => {
      const token = headers.get('authorization');
      if (token === 'slow') return new Promise(() => undefined);
      if (token === 'bad') throw new TypeError('no such key');
      return token === 'good';
    },
    verifierTimeoutMs: 20,
    onLead: ({ id }) => taken.push(id),
  });
  const post = async (authorization: string, method = 'POST'): Promise<number> => {
    const body = JSON.stringify({ id: authorization, note: 'x'.repeat(100_000) });
    const headers = { 'content-type': 'application/json', authorization };
    const request = new Request('https://app.test/leads', { method, headers, body });
    return (await receiver.fetch(request)).status;
  };
  expect(await Promise.all(['good', 'bad', 'slow', 'other'].map((token) => post(token)))).toEqual([
    200, 503, 503, 401,
  ]);
  expect(errors.map(([error]) => errorText(error)).sort()).toEqual([
    'the verifier threw TypeError. what it refuses, it answers with false or a reason',
    'the verifier took longer than 20 ms',
  ]);
  expect(await post('good', 'PUT')).toBe(405);
  expect(taken).toEqual(['good']);
});

test('a verifier that throws for each forgery is told of once a minute', async () => {
  const clock = new FakeClock();
  const { receiver, errors } = start({
    secrets: undefined,
    clock,
    scheme: () => {
      throw new TypeError('bad token');
    },
  });
  const post = async (): Promise<number> => {
    const headers = { 'content-type': 'application/json' };
    const request = new Request('https://app.test/leads', { method: 'POST', headers, body: '{"id":"a"}' });
    return (await receiver.fetch(request)).status;
  };
  const told: number[] = [];
  for (const ms of [0, 0, 59_999, 1, 30_000]) {
    clock.advance(ms);
    expect(await post()).toBe(503);
    told.push(errors.length);
  }
  expect(told).toEqual([1, 1, 1, 2, 2]);
});
