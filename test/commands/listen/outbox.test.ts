import type { ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../support/clock.ts';
import { leads } from '../../support/run.ts';
import { answering, appInEachTest, type Received, startApp } from './app.ts';
import { type Listener, listenInEachTest, token } from './support.ts';

const start = listenInEachTest();
const appAt = appInEachTest();

const headersOf = (received: Received | undefined, name: string): string[] =>
  (received?.rawHeaders ?? []).filter((_, i, all) => i % 2 === 1 && all[i - 1]?.toLowerCase() === name);

/** An app that answers with whatever status is set. */
async function appWith(status: number, headers = {}) {
  const state = { status, headers };
  const app = await appAt((_: Received, response: ServerResponse) => {
    response.writeHead(state.status, state.headers).end();
  });
  return Object.assign(app, state, {
    set(next: number, more = {}) {
      Object.assign(state, { status: next, headers: more });
    },
  });
}

/** Lets time pass, in small steps, until it is so. Returns how long that took, in seconds. */
async function secondsUntil(
  { clock }: Pick<Listener, 'clock'>,
  isSo: () => boolean,
  stepMs = 1000,
): Promise<number> {
  const from = clock.now();
  const step = (): boolean => {
    if (!isSo()) clock.advance(stepMs);
    return isSo();
  };
  await expect.poll(step, { interval: 4, timeout: 20_000 }).toBe(true);
  return (clock.now() - from) / 1000;
}

/** Lets so much time pass, in seconds. */
async function pass({ clock }: Pick<Listener, 'clock'>, seconds: number, stepMs = 1000): Promise<void> {
  const end = clock.now() + seconds * 1000;
  await secondsUntil({ clock }, () => clock.now() >= end, stepMs);
}

/** As many leads as are said to be given up. */
const givenUp = ({ stderr }: Listener): number =>
  [...stderr.text().matchAll(/^warning: (\d+) leads? (?:is|are) dead for forward http/gm)]
    .map(([, leads]) => Number(leads))
    .reduce((sum, leads) => sum + leads, 0);

describe('the outbox of a receiver', () => {
  it('hands a lead on once its app is back, behind a restart too, with its credential, and though nobody sends it again', async () => {
    const down = await startApp(answering(200));
    const port = Number(new URL(down.url).port);
    await down.close();
    const flags = ['--forward-to', down.url, '--format', 'events'];
    const clock = new FakeClock();
    const first = await start(flags, { clock });
    expect((await first.post({ id: 'a', note: 'as sent' })).status).toBe(200);
    await pass(first, 20);
    await first.stop();
    clock.advance(60_000);
    const app = await appAt(answering(200), port);
    const second = await start(flags, { clock, home: first.home });
    expect(await secondsUntil(second, () => second.forwards().length > 0)).toBeLessThan(60);
    expect(second.forwards()).toMatchObject([
      { state: 'done', leadId: 'a', target: `forward ${down.url}`, ok: true },
    ]);
    const [got] = app.received;
    expect(got?.body.toString()).toBe('{"id":"a","note":"as sent"}');
    expect(headersOf(got, 'x-webhook-token')).toEqual([token]);
    expect(headersOf(got, 'leads-verified')).toEqual(['token']);
    expect(Number(headersOf(got, 'leads-attempt')[0])).toBeGreaterThan(1);
    expect((await second.post({ id: 'a', note: 'as sent' })).body).toMatchObject({ status: 'duplicate' });
    expect(app.received).toHaveLength(1);
  });

  it('ends a run with --count once each target has had the lead, which --format leads prints as it is stored', async () => {
    const app = await appWith(503);
    const listener = await start(['--forward-to', app.url, '--format', 'leads', '--count', '1']);
    let over = false;
    void listener.done.then(() => (over = true));
    expect((await listener.post({ id: 'a' })).status).toBe(200);
    await expect.poll(() => listener.stdout.text()).toBe('{"id":"a"}\n');
    await pass(listener, 10);
    app.set(200);
    await secondsUntil(listener, () => over);
    expect(await listener.done).toMatchObject({ exitCode: 0, stdout: '{"id":"a"}\n' });
  });

  it('ends a run with --count although a target has not had the lead, once it is given up', async () => {
    const app = await appWith(503);
    const target = JSON.stringify({ forward: app.url, giveUp: '1m' });
    const listener = await start(['--target', target, '--format', 'events', '--count', '1']);
    let over = false;
    void listener.done.then(() => (over = true));
    expect((await listener.post({ id: 'a' })).status).toBe(200);
    await pass(listener, 30);
    expect(over).toBe(false);
    await secondsUntil(listener, () => over);
    expect((await listener.done).exitCode).toBe(0);
    expect(listener.forwards().at(-1)).toMatchObject({ leadId: 'a', state: 'dead' });
  });

  it('ends a run with --count at the end of --for where a target has not had the lead, and says so', async () => {
    const app = await appWith(503);
    const listener = await start(['--forward-to', app.url, '--count', '1', '--for', '30s']);
    let over = false;
    void listener.done.then(() => (over = true));
    expect((await listener.post({ id: 'a' })).status).toBe(200);
    expect(await secondsUntil(listener, () => over)).toBeLessThan(40);
    const { exitCode, stderr } = await listener.done;
    expect(exitCode).toBe(7);
    expect(stderr).toContain('1 new lead was wanted and came, but a target has not had it\n');
  });

  it('gives a lead up after three days, with a last try, says so each time, and keeps it', async () => {
    const app = await appWith(500);
    const listener = await start(['--forward-to', app.url, '--format', 'events']);
    for (const id of ['a', 'b', 'c']) expect((await listener.post({ id })).status).toBe(200);
    await pass(listener, 71 * 3600, 30 * 60_000);
    expect(givenUp(listener)).toBe(0);
    await secondsUntil(listener, () => givenUp(listener) === 3, 30 * 60_000);
    const tries = app.received.length;
    await pass(listener, 24 * 3600, 30 * 60_000);
    expect(app.received).toHaveLength(tries);
    expect(givenUp(listener)).toBe(3);
    expect(listener.forwards().at(-1)).toMatchObject({ state: 'dead', dueAt: null });
    expect(listener.stderr.text()).toContain("tried again after 'leads inbox retry --pending'\n");
    const listed = await leads(['inbox', 'list', '--verdict', 'dead', '--json'], { home: listener.home });
    expect(JSON.parse(listed.stdout)).toHaveLength(3);
    expect((await listener.post({ id: 'd' })).status).toBe(200);
    await secondsUntil(listener, () => givenUp(listener) === 4, 30 * 60_000);
    expect(listener.stderr.text()).toContain('warning: 1 lead is dead for forward http');
  });
});
