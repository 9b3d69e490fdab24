import type { ServerResponse } from 'node:http';
import Libsql from 'libsql';
import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../support/clock.ts';
import { freshHome, leads } from '../../support/run.ts';
import { until } from '../../support/until.ts';
import { answering, appInEachTest, type App, type Received, startApp } from './app.ts';
import { type Listener, listenInEachTest, token } from './support.ts';

const start = listenInEachTest();
const appAt = appInEachTest();

const headersOf = (received: Received | undefined, name: string): string[] =>
  (received?.rawHeaders ?? []).filter((_, i, all) => i % 2 === 1 && all[i - 1]?.toLowerCase() === name);

const hourMs = 3_600_000;

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

const idsOf = ({ received }: App): unknown[] =>
  received.map(({ body }) => (JSON.parse(body.toString()) as { id: unknown }).id);

const had = (listener: Listener): Record<string, unknown>[] =>
  listener.forwards().filter(({ ok }) => ok === true);

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

  it('tries an app that is down once at a time, down to once a minute, and all that waits once it answers', async () => {
    const app = await appWith(500);
    const listener = await start(['--forward-to', app.url, '--format', 'events']);
    const ids = Array.from({ length: 60 }, (_, i) => `l${i}`);
    for (const id of ids) expect((await listener.post({ id })).status).toBe(200);
    await until(() => listener.forwards().length >= 1);
    const before = app.received.length;
    await pass(listener, 600, 2500);
    const probes = app.received.slice(before);
    expect(probes.length).toBeGreaterThan(8);
    expect(probes.length).toBeLessThan(20);
    // Each probe is for another lead: one that the app cannot take holds no other.
    expect(new Set(probes.map(({ body }) => body.toString())).size).toBe(probes.length);
    app.set(200);
    await secondsUntil(listener, () => had(listener).length === 60);
    expect(app.atOnce()).toBeLessThanOrEqual(32);
    expect(new Set(had(listener).map(({ leadId }) => leadId)).size).toBe(60);
    await listener.stop();
    expect(listener.stderr.text()).toContain('60 accepted');
  });

  it('puts off a lead that the app refuses, and holds no other for it', async () => {
    const refused = { id: 'refused' };
    const app = await appAt(({ body }, response) => {
      response.writeHead(body.includes('refused') ? 422 : 200).end();
    });
    const listener = await start(['--forward-to', app.url]);
    expect((await listener.post(refused)).status).toBe(200);
    await pass(listener, 3600, 10_000);
    const tries = idsOf(app).length;
    expect(tries).toBeGreaterThan(5);
    expect(tries).toBeLessThan(15);
    expect((await listener.post({ id: 'b' })).status).toBe(200);
    expect(app.received.flatMap((one) => headersOf(one, 'leads-attempt')).slice(0, 3)).toEqual([
      '1',
      '2',
      '3',
    ]);
  });

  it.each([
    ['answers 500 to', (response: ServerResponse) => void response.writeHead(500).end()],
    ['breaks off', (response: ServerResponse) => void response.destroy()],
  ])('puts off a lead that the app %s, while it takes others', async (_, fail) => {
    const app = await appAt(({ body }, response) => {
      if (body.includes('bad')) fail(response);
      else response.writeHead(200).end();
    });
    const listener = await start(['--forward-to', app.url]);
    expect((await listener.post({ id: 'bad' })).status).toBe(200);
    for (let i = 0; i < 50; i += 1) expect((await listener.post({ id: `l${i}` })).status).toBe(200);
    const tries = (): number => idsOf(app).filter((id) => id === 'bad').length;
    expect(tries()).toBeLessThanOrEqual(3);
    for (let i = 0; i < 60; i += 1) {
      await pass(listener, 60, 20_000);
      expect((await listener.post({ id: `m${i}` })).status).toBe(200);
    }
    expect(tries()).toBeGreaterThan(5);
    expect(tries()).toBeLessThan(20);
  });

  it.each([
    ['429 with seconds', 429, () => '120'],
    ['503 with a date', 503, (now: number) => new Date(now + 120_000).toUTCString()],
    ['404 with seconds', 404, () => '120'],
  ])('waits as long as the app asks: %s', async (_, status, retryAfter) => {
    const clock = new FakeClock();
    const app = await appWith(status, { 'retry-after': retryAfter(clock.now()), date: '' });
    const listener = await start(['--forward-to', app.url], { clock });
    expect((await listener.post({ id: 'a' })).status).toBe(200);
    await until(() => app.received.length === 1);
    app.set(200);
    const took = await secondsUntil(listener, () => app.received.length === 2);
    expect(took).toBeGreaterThanOrEqual(119);
    expect(took).toBeLessThan(140);
  });

  it('hands on nothing that was erased', async () => {
    const app = await appWith(404);
    const listener = await start(['--forward-to', app.url]);
    for (const id of ['a', 'b']) expect((await listener.post({ id })).status).toBe(200);
    await until(() => app.received.length === 2);
    const { exitCode } = await leads(['inbox', 'erase', '--id', 'a', '--yes'], { home: listener.home });
    expect(exitCode).toBe(0);
    app.set(200);
    await secondsUntil(listener, () => app.received.length === 3);
    await pass(listener, 120, 2500);
    expect(idsOf(app).sort()).toEqual(['a', 'b', 'b']);
  });

  it('hands a lead on to one target while another one takes long for it', async () => {
    const slow = await appAt(() => undefined);
    const quick = await appWith(404);
    const targets = [slow.url, quick.url].flatMap((url) => ['--target', JSON.stringify({ forward: url })]);
    const listener = await start([...targets, '--format', 'events']);
    expect((await listener.post({ id: 'a' })).status).toBe(200);
    await expect.poll(() => [slow.received.length, quick.received.length]).toEqual([1, 1]);
    quick.set(200);
    await secondsUntil(listener, () => quick.received.length === 2);
    await until(() => had(listener).length === 1);
    expect(slow.received).toHaveLength(1);
  });

  it('tries again although the clock was set back', async () => {
    const app = await appWith(404);
    const listener = await start(['--forward-to', app.url]);
    expect((await listener.post({ id: 'a' })).status).toBe(200);
    await until(() => app.received.length === 1);
    listener.clock.set(-12 * hourMs);
    expect(await secondsUntil(listener, () => app.received.length === 2)).toBeLessThan(30);
  });

  it('says which lead it cannot read, and goes on with the others', async () => {
    const app = await appWith(404);
    const listener = await start(['--forward-to', app.url]);
    for (const id of ['bad', 'good']) expect((await listener.post({ id })).status).toBe(200);
    await until(() => app.received.length === 2);
    const database = new Libsql(`${listener.home}/data/inbox.db`);
    database.prepare("UPDATE deliveries SET body = 'damaged' WHERE lead = 'bad'").run([]);
    database.close();
    app.set(200);
    await secondsUntil(listener, () => app.received.length === 3);
    expect(idsOf(app).sort()).toEqual(['bad', 'good', 'good']);
    await expect
      .poll(() => listener.stderr.text().match(/^note: .*$/gm))
      .toContain("note: delivery number 1 of the inbox holds no lead; 'bad' is not forwarded");
  });

  it('holds none of a request for a lead in it that it cannot read', async () => {
    const app = await appWith(404);
    const listener = await start(['--forward-to', app.url]);
    const ids = ['a', 'bad', 'c'];
    const batch = ids.map((id) => ({ id, category: 'solar' }));
    expect((await listener.post(batch)).status).toBe(200);
    await until(() => app.received.length === 1);
    const database = new Libsql(`${listener.home}/data/inbox.db`);
    database.prepare("UPDATE deliveries SET lead_start = lead_start + 1 WHERE lead = 'bad'").run([]);
    database.close();
    app.set(200);
    await secondsUntil(listener, () => app.received.length === 2);
    expect(headersOf(app.received[1], 'leads-lead-id')).toEqual(['a,c']);
    await expect.poll(() => listener.stderr.text()).toMatch(/^note: .*'bad' is not forwarded$/m);
  });

  it('says of which lead there is no delivery any more, and goes on with the others', async () => {
    const app = await appWith(404);
    const listener = await start(['--forward-to', app.url]);
    for (const id of ['gone', 'kept']) expect((await listener.post({ id })).status).toBe(200);
    await until(() => app.received.length === 2);
    const database = new Libsql(`${listener.home}/data/inbox.db`);
    database.prepare("DELETE FROM deliveries WHERE lead = 'gone'").run([]);
    database.close();
    app.set(200);
    await secondsUntil(listener, () => app.received.length === 3);
    expect(app.received[2]?.body.toString()).toBe('{"id":"kept"}');
    await expect.poll(() => listener.stderr.text()).toMatch(/^note: .*'gone'.* is not forwarded$/m);
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

  it('signs what it hands on with the secret that is current', async () => {
    const secret = (letter: string): string => `whsec_${letter.repeat(32)}`;
    const { sign } = await import('../../../src/library/webhook.ts');
    const clock = new FakeClock(Date.now());
    const down = await appWith(500);
    const home = freshHome();
    const flags = (current: string) => [
      '--forward-to',
      down.url,
      '--scheme',
      'standard-webhooks',
      '--secret',
      current,
    ];
    const first = await start(flags(secret('a')), { clock, home });
    const signed = await sign({ id: 'a' }, { scheme: 'standard-webhooks', secrets: secret('a') });
    const posted = await first.post(signed.body, Object.fromEntries(Object.entries(signed.headers)));
    expect(posted.status).toBe(200);
    await until(() => down.received.length === 1);
    await first.stop();
    down.set(200);
    clock.advance(24 * 3_600_000);
    const behind = await start(['--http', '--scheme', 'standard-webhooks', '--secret', secret('b')], {
      clock,
    });
    const second = await start(
      ['--forward-to', behind.url, '--scheme', 'standard-webhooks', '--secret', secret('b')],
      { clock, home },
    );
    expect((await second.stop()).exitCode).toBe(0);
    await start(flags(secret('b')), { clock, home });
    await expect.poll(() => down.received.length).toBe(2);
    const again = down.received[1];
    const { status } = await behind.post(
      again?.body,
      Object.fromEntries(
        ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) => [
          name,
          headersOf(again, name),
        ]),
      ),
    );
    expect(status).toBe(200);
  });
});

describe('what a 200 leaves to do', () => {
  it('answers once the lead is on disk, and its targets get it afterwards', async () => {
    let answer = (): void => undefined;
    const app = await appAt((_, response) => (answer = () => void response.writeHead(200).end()));
    const listener = await start(['--forward-to', app.url, '--format', 'events']);
    const first = await listener.post({ id: 'a' });
    expect([first.status, first.body]).toEqual([200, { status: 'accepted', id: 'a' }]);
    await expect.poll(() => app.received.length).toBe(1);
    const again = await listener.post({ id: 'a' });
    expect([again.status, again.body]).toEqual([200, { status: 'duplicate', id: 'a' }]);
    const { stdout } = await leads(['inbox', 'list', '--json'], { home: listener.home });
    expect(JSON.parse(stdout)).toMatchObject([
      { verdict: 'duplicate', status: 200 },
      { verdict: 'accepted', status: 200 },
    ]);
    answer();
    await expect
      .poll(() => listener.events().slice(1))
      .toMatchObject([
        { type: 'delivery', verdict: 'accepted', source: 'push', status: 200 },
        { type: 'delivery', verdict: 'duplicate', source: 'push', status: 200 },
        { type: 'forward', leadId: 'a', attempt: 1, state: 'done', ok: true },
      ]);
    expect((await listener.post({ id: 'a' })).body).toMatchObject({ status: 'duplicate' });
    expect(app.received).toHaveLength(1);
    expect(headersOf(app.received[0], 'leads-attempt')).toEqual(['1']);
  });

  it.each([2, 40, 1000])(
    'hands %i leads that came in one request on in one, once the app is up',
    async (count) => {
      const app = await appWith(500);
      const flags = ['--forward-to', app.url, '--format', 'events'];
      const listener = await start(flags);
      const batch = Array.from({ length: count }, (_, i) => ({ id: `l${i}`, category: 'solar' }));
      const other = { id: 'other' };
      for (const body of [other, batch]) expect((await listener.post(body)).status).toBe(200);
      await pass(listener, 60);
      const before = app.received.length;
      app.set(200);
      await secondsUntil(listener, () => had(listener).length === count + 1);
      const counts = app.received.slice(before).map(({ body }) => body.toString().split('"id"').length - 1);
      expect(counts.sort((a, b) => a - b)).toEqual([1, count]);
    },
  );

  it('takes what comes while the app is down without trying it for each, and hands it on once it is up', async () => {
    const app = await appWith(500);
    const flags = ['--forward-to', app.url, '--format', 'events'];
    const listener = await start(flags);
    for (const [i, id] of ['first', 'second'].entries()) {
      expect((await listener.post({ id })).status).toBe(200);
      await until(() => listener.forwards().length === i + 1);
    }
    for (let i = 0; i < 50; i += 1) expect((await listener.post({ id: `l${i}` })).status).toBe(200);
    expect(app.received.length).toBe(2);
    app.set(200);
    await secondsUntil(listener, () => had(listener).length === 52);
    expect(new Set(idsOf(app)).size).toBe(52);
  });

  it.each([
    ['soon after', 0, 70],
    ['hours after', 6 * hourMs, 70],
  ])('hands a lead on %s others that the app fails at', async (_, laterMs, within) => {
    const app = await appAt(({ body }, response) => {
      response.writeHead(body.includes('bad') ? 500 : 200).end();
    });
    const flags = ['--forward-to', app.url, '--format', 'events'];
    const listener = await start(flags);
    for (let i = 0; i < 8; i += 1) expect((await listener.post({ id: `bad${i}` })).status).toBe(200);
    await expect.poll(() => app.received.length).toBeGreaterThan(0);
    await pass(listener, laterMs / 1000, 60_000);
    for (const id of ['good', 'better']) {
      expect((await listener.post({ id })).status).toBe(200);
      expect(await secondsUntil(listener, () => idsOf(app).includes(id))).toBeLessThan(within);
    }
    const before = app.received.length;
    await pass(listener, 3600, 60_000);
    expect(app.received.length - before).toBeLessThan(8 * 15);
    expect((await listener.post({ id: 'best' })).status).toBe(200);
    expect(await secondsUntil(listener, () => idsOf(app).includes('best'))).toBeLessThan(70);
  });

  it('lets a target that has a lead finish when the run ends', async () => {
    let answer = (): void => undefined;
    const app = await appAt((_, response) => (answer = () => void response.writeHead(200).end()));
    const listener = await start(['--forward-to', app.url, '--format', 'events']);
    expect((await listener.post({ id: 'a' })).status).toBe(200);
    await expect.poll(() => app.received.length).toBe(1);
    const stopped = listener.stop();
    await expect(listener.post({ id: 'b' })).rejects.toThrow();
    answer();
    expect((await stopped).exitCode).toBe(0);
    expect(listener.forwards()).toMatchObject([{ leadId: 'a', state: 'done' }]);
  });

  it('gives up what waited too long for an app that is away, though each lead was not tried', async () => {
    const app = await appWith(500);
    const listener = await start(['--forward-to', app.url]);
    const ids = Array.from({ length: 240 }, (_, i) => `l${i}`);
    for (const id of ids) expect((await listener.post({ id })).status).toBe(200);
    await pass(listener, 71 * 3600, 30 * 60_000);
    expect(givenUp(listener)).toBe(0);
    await secondsUntil(listener, () => givenUp(listener) === 240, 30 * 60_000);
    // Time passes by half hours, with one probe in each.
    expect(app.received.length).toBeLessThan(160);
  });

  it('holds some hundred leads at most, and reads the others from the inbox without a wait', async () => {
    const held: (() => void)[] = [];
    let isHeld = true;
    const app = await appAt((_, response) => {
      const answer = (): void => void response.writeHead(200).end();
      if (isHeld) held.push(answer);
      else answer();
    });
    const flags = ['--http', '--forward-to', app.url, '--format', 'events'];
    const listener = await start(flags);
    const posts = Array.from({ length: 300 }, (_, i) => listener.post({ id: `l${i}` }));
    for (const { status } of await Promise.all(posts)) expect(status).toBe(200);
    isHeld = false;
    for (const answer of held.splice(0)) answer();
    expect(await secondsUntil(listener, () => had(listener).length === 300)).toBeLessThan(20);
    expect(new Set(idsOf(app)).size).toBe(300);
  });
});
