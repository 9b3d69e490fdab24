import { createServer } from 'node:http';
import { afterEach, expect, test } from 'vitest';
import { Secret } from '../../src/secret.ts';
import { parseFaults, deliveryFaults } from '../../src/sandbox/faults.ts';
import { type Sandbox, type SandboxOptions, startSandbox } from '../../src/sandbox/start-sandbox.ts';
import type { WebhookOptions } from '../../src/sandbox/sandbox-options.ts';
import { checkDelivery } from '../../src/webhook/check-delivery.ts';
import type { Key, Scheme } from '../../src/webhook/scheme.ts';
import { schemeNamed } from '../../src/webhook/scheme-registry.ts';
import { FakeClock } from '../support/clock.ts';
import {
  scriptedReceiver,
  type ScriptedReceiver,
  type ReceivedRequest,
} from '../support/scripted-service.ts';
import { openServer } from '../support/open-server.ts';

const secrets: Record<string, string> = {
  token: 'a-shared-token',
  'standard-webhooks': 'whsec_c2VjcmV0IG9mIHRoZSBzYW5kYm94IHRlc3Rz',
};

const closers: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const opened of closers.splice(0)) await opened.close();
});

async function receiver(...args: Parameters<typeof scriptedReceiver>): Promise<ScriptedReceiver> {
  const opened = await scriptedReceiver(...args);
  closers.push(opened);
  return opened;
}

interface Setup {
  readonly target: string;
  readonly scheme?: string;
  readonly faults?: string;
  readonly webhook?: Partial<WebhookOptions>;
  readonly options?: SandboxOptions;
}

async function deliver({ target, scheme = 'token', faults = '', webhook, options }: Setup): Promise<{
  sandbox: Sandbox;
  clock: FakeClock;
}> {
  const clock = new FakeClock();
  const named = schemeNamed(scheme);
  const sandbox = await startSandbox(
    {
      leads: 0,
      ...options,
      webhook: {
        url: target,
        signer: { scheme: named, key: named.key(new Secret(secrets[scheme] ?? 'secret')) },
        faults: parseFaults(faults, deliveryFaults),
        ...webhook,
      },
    },
    { clock },
  );
  closers.push(sandbox);
  return { sandbox, clock };
}

/** The status that a receiver with replay protection answers; `seen` holds its nonces. */
function verdict(
  { method, path, rawHeaders, body }: ReceivedRequest,
  scheme: Scheme,
  key: Key,
  now: number,
  seen: Map<string, string>,
): number {
  const delivery = { method, path, url: path, rawHeaders, body, remote: '', receivedAt: now };
  const checked = checkDelivery(delivery, { path: undefined, scheme, keys: [key] }, now);
  if (checked.kind === 'rejected') return checked.status;
  const { nonce } = checked;
  if (nonce === undefined) return 200;
  const bound = seen.get(nonce) ?? String(body);
  seen.set(nonce, bound);
  return bound === String(body) ? 200 : 401;
}

const attemptsOf = (sandbox: Sandbox): string[] =>
  sandbox.state.deliveries.attempts.map(
    ({ attempt, outcome, status, error }) => `${attempt} ${outcome} ${status ?? error ?? ''}`,
  );

test('a sandbox that cannot listen on its port delivers nothing', async () => {
  const ok = await receiver(() => 200);
  const { port } = (await deliver({ target: ok.url })).sandbox;
  await expect(deliver({ target: ok.url, options: { leads: 5, port } })).rejects.toThrow(`${port}`);
  await deliver({ target: ok.url, options: { records: [Buffer.from('{"id":"later"}')] } });
  await expect.poll(() => ok.received.map(({ body }) => String(body))).toContain('{"id":"later"}');
  expect(ok.received).toHaveLength(1);
});

test('a lead goes out in its own bytes, with token and content type, and becomes delivered', async () => {
  const ok = await receiver(() => 200);
  const { sandbox } = await deliver({ target: ok.url });
  const lead = sandbox.addLead();
  expect(lead.status).toBe('new');
  await expect.poll(() => lead.status).toBe('delivered');
  const [got] = ok.received;
  expect(got?.headers).toMatchObject({
    'content-type': 'application/json',
    'x-webhook-token': 'a-shared-token',
  });
  expect(got?.body.toString()).toBe(lead.text());
});

test('with a webhook, the leads of the start are new and are delivered oldest first', async () => {
  const ok = await receiver(() => 200);
  const { sandbox } = await deliver({
    target: ok.url,
    options: { leads: 30 },
    webhook: { concurrency: 1 },
  });
  await expect.poll(() => sandbox.state.deliveries.acknowledged.size).toBe(30);
  expect(ok.received.map(({ body }) => (JSON.parse(String(body)) as { id: string }).id)).toEqual(
    [...sandbox.leads].map((lead) => lead.id),
  );
});

test('retries follow the schedule; only 200 acknowledges; after the last it gives up', async () => {
  const answers = [500, 204, 302, undefined];
  const failing = await receiver((_, count) => answers[count - 1]);
  const { sandbox, clock } = await deliver({
    target: failing.url,
    webhook: { retryMs: [1000, 5000, 30_000] },
  });
  const lead = sandbox.addLead();
  for (const [i, wait] of [1000, 5000, 30_000].entries()) {
    await expect.poll(() => sandbox.state.deliveries.attempts.length).toBe(i + 1);
    await expect.poll(() => clock.sleeps.length).toBe(i + 1);
    clock.advance(wait - 1);
    expect(failing.received).toHaveLength(i + 1);
    clock.advance(1);
  }
  await expect.poll(() => lead.status).toBe('failed');
  expect(attemptsOf(sandbox)).toEqual([
    '1 refused 500',
    '2 refused 204',
    '3 refused 302',
    '4 unanswered ECONNRESET',
  ]);
  expect(clock.sleeps).toEqual([1000, 5000, 30_000]);
});

test('a delivery fails when the receiver does not answer in time, or does not listen', async () => {
  const silentAt = await openServer(createServer(() => undefined));
  const { port } = silentAt;
  for (const [target, error] of [
    [`http://127.0.0.1:${port}/`, 'timeout'],
    ['http://127.0.0.1:1/', 'ECONNREFUSED'],
  ] as const) {
    const { sandbox } = await deliver({ target, webhook: { retryMs: [], timeoutMs: 50 } });
    const lead = sandbox.addLead();
    await expect.poll(() => lead.status).toBe('failed');
    expect(attemptsOf(sandbox)).toEqual([`1 unanswered ${error}`]);
  }
  await silentAt.close();
});

test('every forgery is rejected by a receiver that verifies, and the retry is accepted', async () => {
  for (const [scheme, faults] of [
    ['standard-webhooks', 'badSignature=12%,staleTimestamp=12%,alteredPayload=12%,reusedNonce=12%'],
    ['token', 'badSignature=50%'],
  ] as const) {
    const seen = new Map<string, string>();
    const named = schemeNamed(scheme);
    const key = named.key(new Secret(secrets[scheme] ?? ''));
    let now = new FakeClock().now();
    const guarded = await receiver((request) => verdict(request, named, key, now, seen));
    const { sandbox, clock } = await deliver({
      target: guarded.url,
      scheme,
      faults,
      webhook: { retryMs: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], concurrency: 1 },
      options: { leads: 40 },
    });
    await expect
      .poll(() => {
        clock.advance(1);
        now = clock.now();
        return sandbox.state.deliveries.pending;
      })
      .toBe(0);
    const { attempts } = sandbox.state.deliveries;
    const forged = attempts.filter((attempt) => attempt.forged);
    expect(new Set(forged.flatMap((attempt) => attempt.faults)).size).toBe(faults.split(',').length);
    expect(forged.filter((attempt) => attempt.outcome !== 'refused')).toEqual([]);
    const honest = attempts.filter((attempt) => !attempt.forged);
    expect(honest.filter((attempt) => attempt.outcome !== 'acknowledged')).toEqual([]);
    expect(sandbox.state.deliveries.acknowledged.size).toBe(40);
  }
});

test('a forgery that the scheme cannot show is an error at the start', async () => {
  for (const [scheme, fault] of [
    ['token', 'staleTimestamp'],
    ['token', 'alteredPayload'],
    ['github', 'reusedNonce'],
    ['stripe', 'reusedNonce'],
  ] as const) {
    await expect(deliver({ target: 'http://127.0.0.1:1/', scheme, faults: `${fault}=1%` })).rejects.toThrow(
      `the scheme '${scheme}' cannot show the fault ${fault}`,
    );
  }
});

test('a duplicate delivery comes again in the same bytes; a dropped one never comes', async () => {
  const ok = await receiver(() => 200);
  const { sandbox } = await deliver({
    target: ok.url,
    faults: 'duplicate=30%,drop=30%',
    options: { leads: 40 },
  });
  await expect.poll(() => sandbox.state.deliveries.pending).toBe(0);
  const times = new Map<string, number>();
  for (const { body } of ok.received) times.set(String(body), (times.get(String(body)) ?? 0) + 1);
  const { attempts } = sandbox.state.deliveries;
  const leadsWith = (fault: string): string[] =>
    attempts
      .filter((attempt) => attempt.faults.some((name) => name === fault))
      .map((attempt) => attempt.leadId);
  for (const lead of sandbox.leads) {
    const expected = leadsWith('drop').includes(lead.id)
      ? 0
      : leadsWith('duplicate').includes(lead.id)
        ? 2
        : 1;
    expect(times.get(lead.text()) ?? 0).toBe(expected);
    expect(lead.status).toBe(expected === 0 ? 'failed' : 'delivered');
  }
  expect(leadsWith('drop').length).toBeGreaterThan(0);
  expect(leadsWith('duplicate').length).toBeGreaterThan(0);
});

test('a reordered delivery is overtaken; the last one is sent after a while', async () => {
  const ok = await receiver(() => 200);
  const { sandbox, clock } = await deliver({
    target: ok.url,
    faults: 'reorder=40%',
    webhook: { concurrency: 1 },
    options: { leads: 30 },
  });
  await expect
    .poll(() => {
      clock.advance(100);
      return sandbox.state.deliveries.pending;
    })
    .toBe(0);
  const order = sandbox.state.deliveries.attempts.map(
    (attempt) => sandbox.state.leads.get(attempt.leadId)?.seq ?? 0,
  );
  expect(order).not.toEqual([...order].sort((a, b) => a - b));
  expect([...order].sort((a, b) => a - b)).toEqual(Array.from({ length: 30 }, (_, i) => i + 1));
});

test('the same seed gives the same attempts, whatever the concurrency, port and order of answers', async () => {
  const faults = 'duplicate=15%,reorder=15%,drop=10%,badSignature=15%,staleTimestamp=10%';
  const recorded = async (concurrency: number, seed: number): Promise<string[]> => {
    const failingForSolar = await receiver((request) => (request.body.includes('"solar"') ? 500 : 200));
    const { sandbox, clock } = await deliver({
      target: failingForSolar.url,
      scheme: 'standard-webhooks',
      faults,
      webhook: { concurrency, retryMs: [100, 100] },
      options: { leads: 60, seed },
    });
    await expect
      .poll(() => {
        clock.advance(50);
        return sandbox.state.deliveries.pending;
      })
      .toBe(0);
    return sandbox.state.deliveries.attempts
      .map(({ deliveryId, leadId, attempt, outcome, status, faults: injected, forged }) =>
        [leadId, deliveryId, attempt, outcome, status, injected.join('+'), forged].join(' '),
      )
      .sort();
  };
  const first = await recorded(1, 5);
  expect(new Set(first.flatMap((line) => line.split(' ')[5]?.split('+') ?? [])).size).toBeGreaterThan(5);
  expect(await recorded(1, 5)).toEqual(first);
  expect(await recorded(16, 5)).toEqual(first);
  expect(await recorded(1, 6)).not.toEqual(first);
});

test('an id is reused only after something was acknowledged, and the genuine request follows a forgery that was taken', async () => {
  const target = await receiver(() => 200);
  const { sandbox } = await deliver({
    target: target.url,
    scheme: 'standard-webhooks',
    faults: 'reusedNonce=100%',
    webhook: { concurrency: 1, retryMs: [] },
    options: { leads: 4 },
  });
  const { deliveries } = sandbox.state;
  await expect.poll(() => deliveries.pending).toBe(0);
  expect(deliveries.attempts).toMatchObject([
    { faults: [] },
    ...Array<unknown>(3).fill({ faults: ['reusedNonce'] }),
    ...Array<unknown>(3).fill({ attempt: 2, faults: [] }),
  ]);
});

test('a lead of which only a forgery was taken does not count as acknowledged', async () => {
  let asked = 0;
  const target = await receiver(() => ((asked += 1) === 1 ? 200 : 500));
  const webhook = { retryMs: [] };
  const { sandbox } = await deliver({ target: target.url, faults: 'badSignature=100%', webhook });
  const lead = sandbox.addLead();
  await expect.poll(() => lead.status).toBe('failed');
  expect(attemptsOf(sandbox)).toEqual(['1 acknowledged 200', '2 refused 500']);
  expect(sandbox.state.deliveries.acknowledged.size).toBe(0);
});
