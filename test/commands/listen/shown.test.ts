import { createHmac } from 'node:crypto';
import { afterEach, describe, expect, it } from 'vitest';
import { leads } from '../../support/run.ts';
import { listenInEachTest } from './support.ts';
import { until } from '../../support/until.ts';

const open: (() => Promise<unknown>)[] = [];

const start = listenInEachTest();

afterEach(async () => {
  for (const close of open.splice(0)) await close();
});

describe('the messages of listen', () => {
  it('give the address, then a command to try it, without any secret', async () => {
    const listener = await start(['--token', 'do-not-show']);
    await listener.stop();
    const lines = listener.stderr.text().trimEnd().split('\n');
    expect(lines[0]).toMatch(/^listening on https:\/\/localhost:\d+, inbox \S+inbox\.db$/);
    expect(lines[1]).toContain('curl --cacert');
    expect(lines[1]).toContain('YOUR-TOKEN');
    expect(lines.length).toBeLessThanOrEqual(4);
    expect(lines.at(-1)).toMatch(/^0 accepted in /);
    expect(listener.stderr.text()).not.toContain('do-not-show');
    expect(listener.stdout.text()).toBe('');
  });

  it('name the authority to trust where curl cannot sign', async () => {
    const listener = await start(['--scheme', 'github', '--secret', 'do-not-show']);
    await listener.stop();
    expect(listener.stderr.text()).toMatch(/^ {2}trust {4}\/\S+ca\.pem$/m);
    expect(listener.stderr.text()).not.toContain('curl');
  });

  it('are only the address when the data is for a program', async () => {
    const listener = await start(['--format', 'events']);
    expect(listener.stderr.text().trimEnd().split('\n')).toHaveLength(1);
    expect(listener.events()[0]).toMatchObject({ type: 'listening', url: listener.url, scheme: 'token' });
  });

  it('are without personal data under --format redacted', async () => {
    const listener = await start(['--format', 'redacted']);
    await listener.post({ id: 'lead_1', category: 'solar', contact: { name: 'Ada' }, metadata: {} });
    await listener.post(
      { id: 'lead_2', category: 'solar', contact: { name: 'Bob' } },
      { 'x-webhook-token': 'no' },
    );
    await listener.stop();
    const lines = listener.stdout
      .text()
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as object);
    const common = { type: 'delivery', receivedAt: '2026-01-15T12:00:00.000Z', durationMs: 0, attempt: null };
    expect(lines.slice(1, 3)).toEqual([
      { ...common, verdict: 'accepted', reason: null, status: 200, leadId: 'lead_1', attempt: 1 },
      { ...common, verdict: 'rejected', reason: 'wrong_credential', status: 401, leadId: null },
    ]);
  });

  it('show lead, verdict, reason and time of each delivery', async () => {
    const listener = await start();
    const lead = { id: 'lead_1', category: 'solar', contact: { name: 'Ada' }, metadata: {} };
    await listener.post(lead);
    await listener.post({ ...lead, contact: { name: 'Bob' } });
    await listener.post(lead, { 'x-webhook-token': 'wrong' });
    await listener.post('{"id":1e2}');
    await listener.stop();
    const text = listener.stdout.text();
    expect(text).toMatch(/^12:00:00Z {2}accepted {3}lead_1 {2}Ada {2}solar {2}0ms$/m);
    expect(text).toMatch(
      /duplicate {2}lead_1 {2}Bob[^]*first received 2026-01-15T12:00:00\.000Z[^]*in contact\.name/,
    );
    expect(text).toMatch(/rejected {3}401 wrong_credential[^]*POST \/ from 127\.0\.0\.1/);
    expect(text).toMatch(/rejected {3}400 not_a_lead/);
    expect(listener.stderr.text()).toMatch(
      /1 accepted, 1 duplicate, 2 rejected \(1 wrong_credential, 1 not_a_lead\)/,
    );
  });

  it('say with --explain what would have matched, and it is rejected all the same', async () => {
    const argv = ['--scheme', 'github', '--secret', 'shared-secret-text'];
    const body = '{"id": "a"}';
    const signature = createHmac('sha256', 'shared-secret-text').update('{"id":"a"}').digest('hex');
    const headers = { 'x-hub-signature-256': `sha256=${signature}` };
    const silent = await start(argv);
    expect((await silent.post(body, headers)).status).toBe(401);
    const listener = await start([...argv, '--explain']);
    expect((await listener.post(body, headers)).status).toBe(401);
    await listener.stop();
    expect(listener.stdout.text()).toContain('without white space');
    expect(silent.stdout.text()).not.toContain('without white space');
    expect(listener.stdout.text()).not.toContain(signature);
  });

  it('warn when other machines can reach the port', async () => {
    const listener = await start(['--host', '0.0.0.0']);
    expect(listener.stderr.text()).toContain('warning: bound to 0.0.0.0');
  });

  it('name a plain HTTP address with --http, which takes deliveries', async () => {
    const listener = await start(['--http']);
    expect(listener.url).toMatch(/^http:\/\/localhost:/);
    expect((await listener.post({ id: 'a' })).status).toBe(200);
  });
});

describe('--backfill', () => {
  it('needs an API key, and receives on when the service cannot be reached', async () => {
    const without = await leads(['listen', '--port', '0', '--token', 't', '--backfill', '1d']);
    expect(without.exitCode).toBe(3);
    const env = { LEADS_API_KEY: 'k', LEADS_BASE_URL: 'http://127.0.0.1:1' };
    const listener = await start(['--backfill', '1d', '--retries', '0'], { env });
    await until(() => listener.stderr.text().includes('backfill ended early'));
    expect((await listener.post({ id: 'a' })).status).toBe(200);
  });
});
