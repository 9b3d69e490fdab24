import { describe, expect, it } from 'vitest';
import { leads } from '../../support/run.ts';
import { listenInEachTest } from './support.ts';

const start = listenInEachTest();

const lead = (id: string, more: object = {}): object => ({
  id,
  category: 'solar',
  contact: { name: 'Ada Lovelace', email: 'ada@example.com', phone: '1' },
  metadata: { source: 'web' },
  createdAt: '2026-01-15T11:00:00Z',
  ...more,
});

describe('the answer of listen', () => {
  it('is 200 accepted to a new lead and 200 duplicate from then on, also in a later run', async () => {
    const first = await start();
    expect(await first.post(lead('a'))).toMatchObject({ status: 200, body: { status: 'accepted', id: 'a' } });
    expect(await first.post(lead('a'))).toMatchObject({
      status: 200,
      body: { status: 'duplicate', id: 'a' },
    });
    expect((await first.stop()).exitCode).toBe(0);
    const second = await start([], { home: first.home });
    expect((await second.post(lead('a'))).body).toEqual({ status: 'duplicate', id: 'a' });
    expect((await second.post(lead('b'))).body).toEqual({ status: 'accepted', id: 'b' });
    expect((await second.stop()).stdout).toContain('first received 2026-01-15T12:00:00.000Z');
  });

  it.each([
    { what: 'a wrong token', headers: { 'x-webhook-token': 'x' }, status: 401, reason: 'wrong_credential' },
    { what: 'another path', path: '/other', status: 404, reason: 'wrong_path' },
    { what: 'another method', method: 'PUT', status: 405, reason: 'wrong_method' },
    { what: 'a body without an id', body: '{"x":1}', status: 400, reason: 'not_a_lead' },
    {
      what: 'a body of more than 1 MiB',
      body: Buffer.alloc(1_100_000, ' '),
      status: 413,
      reason: 'too_large',
    },
  ])('is $status $reason to $what, and the next delivery is accepted', async (row) => {
    const { status, reason, body = lead('a'), headers, path = '/hook', method = 'POST' } = row;
    const listener = await start(['--path', '/hook', '--format', 'events']);
    const answer = await listener.post(body, headers, path, method);
    expect(answer).toMatchObject({ status, body: { error: reason } });
    expect(Object.keys(answer.body)).toEqual(['error', 'message']);
    if (status === 405) expect(answer.headers['allow']).toBe('POST');
    expect((await listener.post(lead('ok'), undefined, '/hook')).status).toBe(200);
    await listener.stop();
    expect(listener.events().filter((event) => event['verdict'] === 'rejected')).toMatchObject([
      { type: 'delivery', reason, status, lead: null },
    ]);
    const stored = await leads(['inbox', 'list', '--verdict', 'rejected', '--json'], { home: listener.home });
    expect(JSON.parse(stored.stdout)).toMatchObject([{ reason, status }]);
  });
});

describe('listen in an integration test', () => {
  it('ends with 0 after --count new leads, over a new inbox whose path it prints', async () => {
    const listener = await start(['--count', '2', '--format', 'events']);
    await listener.post(lead('a'));
    await listener.post(lead('a'));
    await listener.post(lead('b'));
    const run = await listener.done;
    expect(run.exitCode).toBe(0);
    expect(listener.events().map((event) => event['type'])).toEqual([
      'listening',
      'delivery',
      'delivery',
      'delivery',
      'summary',
    ]);
    const again = await start(['--count', '1', '--format', 'events'], { home: listener.home });
    expect((await again.post(lead('a'))).body).toMatchObject({ status: 'accepted' });
    expect((await again.done).exitCode).toBe(0);
  });

  it('ends after --for, with 7 when --count was not reached and with 0 without a count', async () => {
    const short = await start(['--count', '2', '--for', '30s']);
    await short.post(lead('a'));
    short.clock.advance(30_000);
    const run = await short.done;
    expect(run.exitCode).toBe(7);
    expect(run.stderr).toContain('2 new leads were wanted, 1 came');
    const plain = await start(['--for', '30s']);
    plain.clock.advance(30_000);
    expect((await plain.done).exitCode).toBe(0);
  });

  it('ends with 130 on Ctrl-C while --count is not reached', async () => {
    const listener = await start(['--count', '2']);
    const run = await listener.stop();
    expect(run.exitCode).toBe(130);
    expect(run.stderr).toContain('2 new leads were wanted, none came');
  });

  it('fails on purpose with --simulate, before the lead is stored', async () => {
    const failing = await start(['--simulate', 'fail-first=2', '--format', 'events']);
    const answers = [];
    for (let i = 0; i < 4; i += 1) answers.push(await failing.post(lead('a')));
    expect(answers.map(({ status, body }) => [status, body['error'] ?? body['status']])).toEqual([
      [503, 'told_to_fail'],
      [503, 'told_to_fail'],
      [200, 'accepted'],
      [200, 'duplicate'],
    ]);
    const refusing = await start(['--simulate', 'status=418']);
    expect((await refusing.post(lead('a'))).status).toBe(418);
    const other = await start(['--simulate', 'status=202']);
    expect(await other.post(lead('a'))).toMatchObject({ status: 202, body: { status: 'accepted' } });
    const bare = await start(['--simulate', 'status=204']);
    const { status, headers } = await bare.post(lead('a'));
    expect(status).toBe(204);
    expect(headers).not.toHaveProperty('content-length');
    expect(headers).not.toHaveProperty('transfer-encoding');
  });

  it('waits before each answer with --simulate, but no longer after Ctrl-C', async () => {
    const listener = await start(['--simulate', 'delay=10s']);
    let answered = false;
    const answer = listener.post(lead('a')).then((given) => {
      answered = true;
      return given;
    });
    await expect.poll(() => listener.clock.sleeps).toContain(10_000);
    expect(answered).toBe(false);
    listener.clock.advance(10_000);
    expect((await answer).status).toBe(200);
    const second = listener.post(lead('b'));
    await expect.poll(() => listener.clock.sleeps.filter((ms) => ms === 10_000)).toHaveLength(2);
    const run = listener.stop();
    expect((await second).status).toBe(200);
    expect((await run).exitCode).toBe(0);
  });

  it('needs a flag that says who may deliver', async () => {
    const run = await leads(['listen', '--port', '0']);
    expect(run.exitCode).toBe(3);
    expect(run.stderr).toContain('--token');
    const empty = await leads(['listen', '--port', '0', '--token', '']);
    expect(empty.exitCode).toBe(3);
    const open = await start(['--no-verify']);
    expect(open.stderr.text()).toContain('warning: --no-verify');
    expect((await open.post(lead('a'), {})).status).toBe(200);
  });
});

it.each(['', 'status', 'status=99', 'status=500,status=501', 'fail=2', 'delay=soon', 'status=500,'])(
  "--simulate '%s' is a usage error",
  async (list) => {
    const run = await leads(['listen', '--token', 't', '--simulate', list]);
    expect(run.exitCode).toBe(2);
    expect(run.stderr).toContain('a list such as status=503,fail-first=2,delay=1s');
  },
);
