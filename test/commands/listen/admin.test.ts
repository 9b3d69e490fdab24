import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { until } from '../../support/until.ts';
import { request } from 'node:http';
import { createServer } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { FakeClock } from '../../support/clock.ts';
import { freePort } from '../../support/free-port.ts';
import { parseOpenMetrics, valueOf } from '../../support/open-metrics.ts';
import { freshHome, homeWith, leads } from '../../support/run.ts';
import { InterruptedError } from '../../../src/errors.ts';
import { answering, appInEachTest } from './app.ts';
import { type Listener, listenInEachTest, token } from './support.ts';

const listen = listenInEachTest();
const app = appInEachTest();

/** What `--admin` answers at a path. */
function admin(listener: Listener, path: string): Promise<{ status: number; text: string }> {
  const url = /admin on (\S+):/.exec(listener.stderr.text())?.[1] ?? '';
  return new Promise((resolve, reject) => {
    const sent = request(`${url}${path}`, { agent: false }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
    });
    sent.on('error', reject);
    sent.end();
  });
}

const ready = (listener: Listener): Promise<void> =>
  expect.poll(() => listener.stderr.text()).toMatch(/^admin on http:\/\/localhost:\d+: /m);

async function start(argv: readonly string[], home = freshHome()): Promise<Listener> {
  const listener = await listen(['--admin', '0', ...argv], { home });
  await ready(listener);
  return listener;
}

describe('listen --admin', () => {
  it('is off unless it is asked for', async () => {
    const listener = await listen(['--json']);
    await listener.stop();
    expect(listener.stderr.text()).not.toContain('admin');
    expect(listener.events()[0]).not.toHaveProperty('admin');
  });

  it('says its address on stderr and in the first event', async () => {
    const listener = await start(['--json']);
    const [listening] = listener.events();
    expect(listener.stderr.text()).toContain(`admin on ${String(listening?.['admin'])}: /livez`);
    expect(await admin(listener, '/readyz')).toEqual({ status: 200, text: 'ready\n' });
  });

  it('warns when other machines can reach it', async () => {
    const listener = await listen(['--admin', '0.0.0.0:0']);
    await expect.poll(() => listener.stderr.text()).toContain('--admin is bound to 0.0.0.0');
  });

  it('counts deliveries and what waits, and nothing of their content or of credentials shows', async () => {
    const behind = await app(answering(500));
    const target = `${behind.url.replace('//', '//user:password@')}/hook?key=k`;
    const listener = await start(['--forward-to', target]);
    for (const id of ['sample-1', 'sample-1']) await listener.post({ id });
    await listener.post({ id: 'sample-4' }, { 'x-webhook-token': 'sample-token' }, '/sample-path');
    const labels = { target: `forward ${behind.url}` };
    const metrics = async () => (await admin(listener, '/metrics')).text;
    await expect
      .poll(async () => {
        const families = parseOpenMetrics(await metrics());
        return ['leads_deliveries_total', 'leads_answer_duration_seconds_count']
          .map((name) => valueOf(families, name, {}))
          .concat(valueOf(families, 'leads_forwards_total', { ...labels, result: 'http_5xx' }))
          .concat(valueOf(families, 'leads_waiting', labels));
      })
      .toEqual([3, 3, 1, 1]);
    expect(await metrics()).not.toMatch(/sample-|password|key=k|token-of/);
  });

  it.each([
    ['nonsense', "--admin: 'nonsense' is not a port"],
    ['::1:9090', 'is not a port'],
    ['192.0.2.1:0', "--admin: '192.0.2.1' is not an address of this machine"],
  ])('is a usage error as %s', async (address, message) => {
    const run = await leads(['listen', '--token', 't', '--port', '0', '--for', '1h', '--admin', address], {
      clock: new FakeClock(),
    });
    expect(run).toMatchObject({ exitCode: 2, stdout: '' });
    expect(run.stderr).toContain(message);
  });

  it('cannot share the port of the deliveries, whatever the addresses', async () => {
    const ports = ['--port', '9090', '--admin', '0.0.0.0:9090'];
    const run = await leads(['listen', '--token', 't', '--host', '127.0.0.1', ...ports]);
    expect(run).toMatchObject({ exitCode: 2, stdout: '' });
    expect(run.stderr).toContain('--admin and --port both name port 9090');
  });

  it('ends with 3 when its port is taken, without waiting for --for', async () => {
    const port = await freePort();
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(port, '127.0.0.1', resolve));
    onTestFinished(() => void other.close());
    const run = await leads(
      ['listen', '--token', 't', '--port', '0', '--for', '1h', '--admin', String(port)],
      {
        clock: new FakeClock(),
      },
    );
    expect(run.exitCode).toBe(3);
    expect(run.stderr).toContain(
      `127.0.0.1:${port} is in use by another program\nhint: give another --admin`,
    );
  });
});

const drained = (drainDelay: string): string => homeWith({ listen: { 'drain-delay': drainDelay } });

describe('listen.drain-delay', () => {
  it('takes deliveries after a signal, says 503 at /readyz, and closes each connection behind its answer', async () => {
    const listener = await start([], drained('30s'));
    const keepAlive = { 'x-webhook-token': token, connection: 'keep-alive' };
    expect(await listener.post({ id: 'a' }, keepAlive)).toMatchObject({
      headers: { connection: 'keep-alive' },
    });
    listener.abort(new InterruptedError('SIGTERM'));
    expect(await admin(listener, '/readyz')).toEqual({
      status: 503,
      text: 'not ready: draining: it is about to end\n',
    });
    expect(await admin(listener, '/livez')).toMatchObject({ status: 200 });
    const late = await listener.post({ id: 'b' }, keepAlive);
    expect(late).toMatchObject({ status: 200, headers: { connection: 'close' } });
    expect(listener.stderr.text()).toContain('draining: takes deliveries for another 30.0s; a second');
    listener.clock.advance(30_000);
    expect(await listener.done).toMatchObject({ exitCode: 143 });
    expect(listener.stderr.text()).toContain('2 accepted');
  });

  it('ends when the count is reached meanwhile', async () => {
    const listener = await start(['--count', '1'], drained('30s'));
    listener.abort(new InterruptedError('SIGTERM'));
    await listener.post({ id: 'a' });
    expect(await listener.done).toMatchObject({ exitCode: 0 });
  });

  it('is for signals: the end of --for does not wait', async () => {
    const listener = await start(['--for', '1s'], drained('30s'));
    listener.clock.advance(1000);
    expect(await listener.done).toMatchObject({ exitCode: 0 });
  });

  it('ends as the signal asks where the time of --for is over meanwhile', async () => {
    const listener = await start(['--for', '1s'], drained('30s'));
    listener.abort(new InterruptedError('SIGTERM'));
    listener.clock.advance(1000);
    expect(await listener.done).toMatchObject({ exitCode: 143 });
  });

  it('is an hour at most', async () => {
    const home = freshHome();
    const set = (value: string) => leads(['config', 'set', 'listen.drain-delay', value], { home });
    expect(await set('61m')).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('is not a duration of an hour or less') as string,
    });
    expect((await set('0s')).exitCode).toBe(0);
    expect((await leads(['config', 'get', 'listen.drain-delay'], { home })).stdout).toBe('0s\n');
  });
});

it('counts no command as failed that a signal ended with it', async () => {
  const pid = join(freshHome(), 'pid');
  const target = JSON.stringify({ exec: `echo $$ > '${pid}'; exec sleep 60`, giveUp: '1s' });
  const listener = await start(['--http', '--target', target, '--format', 'events']);
  expect((await listener.post({ id: 'a' })).status).toBe(200);
  await until(() => existsSync(pid) && readFileSync(pid, 'utf8').endsWith('\n'));
  listener.clock.advance(2000);
  listener.abort(new InterruptedError('SIGTERM'));
  process.kill(Number(readFileSync(pid, 'utf8')), 'SIGTERM');
  await listener.done;
  // Any other failure would have been the last one, after the time of giveUp.
  expect(listener.forwards()).toMatchObject([{ ok: false, state: 'waiting', answer: 'ended by SIGTERM' }]);
});
