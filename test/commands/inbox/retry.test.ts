import { join } from 'node:path';
import Libsql from 'libsql';
import { describe, expect, it } from 'vitest';
import { openInbox } from '../../../src/inbox/open-inbox.ts';
import { systemClock } from '../../../src/time/clock.ts';
import { FakeClock } from '../../support/clock.ts';
import { leads, type Run } from '../../support/run.ts';
import { until } from '../../support/until.ts';
import { type App, answering, appInEachTest } from '../listen/app.ts';
import { listenInEachTest, token } from '../listen/support.ts';

const start = listenInEachTest();
const startApp = appInEachTest();
const app = (status: number): Promise<App> => startApp(answering(status));

/** A home whose inbox has a lead that the app refused, and one that it took; and the app's address. */
async function refusedOnce() {
  const broken = await startApp((request, response) =>
    response.writeHead(request.body.includes('taken') ? 200 : 400).end(),
  );
  const listener = await start(['--forward-to', `${broken.url}/hook`, '--format', 'events']);
  const headers = { 'x-webhook-token': token, 'x-sender': 'Zoë', 'content-type': 'application/json' };
  for (const status of ['accepted', 'duplicate']) {
    expect((await listener.post('{ "id": "a",  "n": 1.0 }', headers)).body).toMatchObject({ status });
  }
  expect((await listener.post('{"id":"taken"}')).status).toBe(200);
  await until(() => listener.forwards().length === 2);
  await listener.stop();
  await broken.close();
  const { port } = new URL(broken.url);
  return { home: listener.home, port: Number(port), url: `${broken.url}/hook` };
}

const idsWaiting = async (home: string, verdict = 'waiting'): Promise<unknown[]> => {
  const { stdout } = await leads(['inbox', 'list', '--verdict', verdict, '--json'], { home });
  return (JSON.parse(stdout) as { leadId: unknown }[]).map(({ leadId }) => leadId);
};

/** The lead `a` is given up for the target. */
async function giveUp(home: string, target: string): Promise<void> {
  const inbox = await openInbox({
    location: join(home, 'data', 'inbox.db'),
    clock: systemClock,
    targets: [target],
  });
  const [claim] = await inbox.claimLeads(['a'], target);
  expect(claim).toMatchObject({ state: 'claimed' });
  await inbox.record([{ leadId: 'a', seq: 1, target, claim: claim?.claim ?? 0, outcome: 'dead' }]);
  await inbox.close();
}

describe('leads inbox retry --to', () => {
  it('delivers what waits as it came, without credentials, and it waits no more', async () => {
    const { home, port, url } = await refusedOnce();
    expect(await idsWaiting(home)).toEqual(['a']);
    const mended = await startApp(answering(204), port);
    const run = await leads(['inbox', 'retry', '--pending', '--to', url], { home });
    expect(run).toMatchObject({ exitCode: 0, stderr: '1 lead delivered\n' });
    expect(run.stdout).toMatch(/^delivered {2}a {2}204/);
    expect(mended.received).toHaveLength(1);
    const [request] = mended.received;
    expect(request?.body.toString()).toBe('{ "id": "a",  "n": 1.0 }');
    expect(request?.url).toBe('/hook');
    const text = request?.rawHeaders.join('\n') ?? '';
    // The bytes of the header, as node shows them.
    expect(text).toContain(`x-sender\n${Buffer.from('Zoë').toString('latin1')}`);
    expect(text).not.toMatch(/x-webhook-token|redacted/i);
    expect(text).toMatch(/leads-attempt\n2/i);
    expect(await idsWaiting(home)).toEqual([]);
    const again = await leads(['inbox', 'retry', '--pending', '--to', url], { home });
    expect(again).toMatchObject({ exitCode: 0, stdout: '', stderr: 'no lead waits for a forward\n' });
    expect(mended.received).toHaveLength(1);
  });

  it('of named leads to another address delivers a copy, and they wait as before where they did', async () => {
    const { home } = await refusedOnce();
    const other = await app(200);
    const run = await leads(['inbox', 'retry', 'a', 'taken', '--to', other.url, '--json'], { home });
    expect(JSON.parse(run.stdout)).toMatchObject([
      { leadId: 'a', ok: true, answer: '200', insteadOf: null },
      { leadId: 'taken', ok: true },
    ]);
    expect(other.received).toHaveLength(2);
    expect(await idsWaiting(home)).toEqual(['a']);
  });

  it('of what waits to the address that the app has now moves it there, and says from which one', async () => {
    const { home, port } = await refusedOnce();
    const moved = await app(200);
    const run = await leads(['inbox', 'retry', '--pending', '--to', `${moved.url}/new`], { home });
    expect(run).toMatchObject({ exitCode: 0, stderr: '1 lead delivered\n' });
    expect(run.stdout).toMatch(
      new RegExp(`^delivered {2}a {2}200 {2}\\S+ {2}instead of forward http://127.0.0.1:${port}\n$`),
    );
    expect(await idsWaiting(home)).toEqual([]);
    const listener = await start(['--forward-to', `${moved.url}/new`], { home });
    expect(listener.stderr.text()).not.toMatch(/lead waits|leads wait/);
    expect((await listener.post('{ "id": "a",  "n": 1.0 }')).body).toMatchObject({ status: 'duplicate' });
    expect(moved.received).toHaveLength(1);
  });

  it('to an address that refuses it again is exit 7, and the lead waits as before', async () => {
    const { home } = await refusedOnce();
    const refusing = await app(503);
    const run = await leads(['inbox', 'retry', '--pending', '--to', refusing.url], { home });
    expect(run.exitCode).toBe(7);
    expect(run.stdout).toMatch(/^failed {5}a {2}503/);
    expect(run.stderr).toContain('0 of 1 lead delivered, 1 failed\n');
    expect(await idsWaiting(home)).toEqual(['a']);
  });

  it('that no lead got an answer to is exit 5, and the lead waits as before', async () => {
    const { home, url } = await refusedOnce();
    const run = await leads(['inbox', 'retry', '--pending', '--to', url], { home });
    expect(run.exitCode).toBe(5);
    expect(run.stdout).toMatch(/^failed {5}a {2}connection refused/);
    expect(run.stderr).toMatch(
      /^error: cannot reach http:\/\/127\.0\.0\.1:\d+: connection refused\nhint: .*what waits stays so/,
    );
    expect(await idsWaiting(home)).toEqual(['a']);
  });

  it('of an id that the inbox does not have is exit 7, and delivers none of the others', async () => {
    const { home } = await refusedOnce();
    const other = await app(200);
    const run = await leads(['inbox', 'retry', 'a', 'nobody', '--to', other.url], { home });
    expect(run.exitCode).toBe(7);
    expect(run.stderr).toContain("no delivery of the lead 'nobody'");
    expect(other.received).toHaveLength(0);
  });

  it('leaves what waits for something else, and says so', async () => {
    const { home } = await refusedOnce();
    const failing = await start(['--exec', 'false', '--format', 'events'], { home });
    expect((await failing.post('{"id":"x"}')).status).toBe(200);
    await until(() => failing.forwards().length === 1);
    await failing.stop();
    const moved = await app(200);
    const run = await leads(['inbox', 'retry', '--pending', '--to', moved.url], { home });
    expect(run.exitCode).toBe(0);
    expect(moved.received).toHaveLength(1);
    expect(run.stderr).toContain('note: 1 lead waits still for exec');
    expect(await idsWaiting(home)).toEqual(['x']);
  });

  it('leaves a lead alone while a receiver sends it', async () => {
    const { home, url } = await refusedOnce();
    const target = `forward ${url}`;
    const location = join(home, 'data', 'inbox.db');
    const inbox = await openInbox({ location, clock: systemClock, targets: [target], claimMs: 60_000 });
    expect(await inbox.claimLeads(['a'], target)).toMatchObject([{ state: 'claimed' }]);
    const clock = new FakeClock(Date.now(), { hasty: true });
    const run = await leads(['inbox', 'retry', '--pending', '--to', url], { home, clock });
    await inbox.close();
    expect(run.exitCode).toBe(7);
    expect(run.stdout).toContain('a receiver sends it now');
  });

  it('of what somebody else retries at the same time waits for it, and sends it no second time', async () => {
    const { home } = await refusedOnce();
    let answer: () => void = () => undefined;
    const slow = await startApp((_, response) => (answer = () => response.writeHead(200).end()));
    const clock = new FakeClock(Date.now());
    const retry = (): Promise<Run> =>
      leads(['inbox', 'retry', '--pending', '--to', slow.url], { home, clock });
    const first = retry();
    await until(() => slow.received.length === 1);
    const second = retry();
    await until(() => clock.sleeps.includes(200));
    answer();
    expect(await first).toMatchObject({ exitCode: 0, stderr: '1 lead delivered\n' });
    clock.advance(200);
    expect(await second).toMatchObject({ exitCode: 0, stderr: 'no lead waits for a forward\n' });
    expect(slow.received).toHaveLength(1);
  });

  it('delivers although another lead cannot be read, which is said and stays free', async () => {
    const broken = await app(400);
    const listener = await start(['--forward-to', broken.url, '--format', 'events']);
    for (const id of ['damaged', 'gone', 'a', 'b']) expect((await listener.post({ id })).status).toBe(200);
    await until(() => listener.forwards().length === 4);
    await listener.stop();
    await broken.close();
    const { home } = listener;
    const database = new Libsql(join(home, 'data', 'inbox.db'));
    database.prepare("UPDATE deliveries SET body = 'damaged' WHERE lead = 'damaged'").run([]);
    database.prepare("DELETE FROM deliveries WHERE lead = 'gone'").run([]);
    const mended = await startApp(answering(200), Number(new URL(broken.url).port));
    const run = await leads(['inbox', 'retry', '--pending', '--to', broken.url, '--json'], { home });
    expect(run.exitCode).toBe(7);
    const results = JSON.parse(run.stdout) as { leadId: string; ok: boolean; answer: string }[];
    expect(Object.fromEntries(results.map(({ leadId, ok, answer }) => [leadId, ok ? 'ok' : answer]))).toEqual(
      {
        a: 'ok',
        b: 'ok',
        damaged: 'delivery number 1 of the inbox holds no lead',
        gone: "the inbox has no delivery of the lead 'gone'",
      },
    );
    expect(run.stderr).toContain('2 of 4 leads delivered, 2 failed\n');
    expect(mended.received).toHaveLength(2);
    expect(
      database.prepare("SELECT claimed_until FROM forwards WHERE state = 'waiting'").all([]),
    ).toMatchObject([{ claimed_until: 0 }, { claimed_until: 0 }]);
    database.close();
  });
});

/** Runs the command while time passes for a receiver. */
async function retriedBy(clock: FakeClock, words: readonly string[], home: string): Promise<Run> {
  const run = leads(words, { home, clock: systemClock });
  let over = false;
  void run.then(() => (over = true));
  await until(() => {
    clock.advance(10_000);
    return over;
  });
  return run;
}

describe('leads inbox retry', () => {
  it.each([[['--pending']], [['a']]])(
    '%j begins anew what is dead, and shows what receivers make of it',
    async (words) => {
      const { home, port, url } = await refusedOnce();
      const label = `forward http://127.0.0.1:${port}`;
      await giveUp(home, `forward ${url}`);
      expect(await idsWaiting(home, 'dead')).toEqual(['a']);
      const shown = await leads(['inbox', 'show', 'a'], { home });
      expect(shown.stdout).toMatch(new RegExp(`${label} +dead after 2 attempts`));
      const json = await leads(['inbox', 'show', 'a', '--json'], { home });
      expect(JSON.parse(json.stdout)).toMatchObject([
        { forwards: [{ target: label, state: 'dead', dueAt: null }] },
        {},
      ]);
      const mended = await startApp(answering(200), port);
      const clock = new FakeClock(Date.now());
      const running = await start(['--forward-to', url], { home, clock });
      expect(running.stderr.text()).toContain(
        `note: 1 lead is dead for ${label}: 'leads inbox retry --pending' has this receiver try again\n`,
      );
      const run = await retriedBy(clock, ['inbox', 'retry', ...words], home);
      expect(run).toMatchObject({ exitCode: 0, stderr: '1 lead sent by receivers, 0 failed\n' });
      expect(run.stdout).toMatch(/^delivered {2}a {2}done/);
      expect(mended.received).toHaveLength(1);
      expect(await idsWaiting(home)).toEqual([]);
      expect(await idsWaiting(home, 'dead')).toEqual([]);
    },
  );

  it('says which leads failed again, and that is exit 7', async () => {
    const { home, port, url } = await refusedOnce();
    await startApp(answering(422), port);
    const clock = new FakeClock(Date.now());
    await start(['--forward-to', url], { home, clock });
    const run = await retriedBy(clock, ['inbox', 'retry', 'a', '--json'], home);
    expect(run).toMatchObject({
      exitCode: 7,
      stderr: "1 lead sent by receivers, 1 failed: 'leads inbox show ID' has the answers so far\n",
    });
    expect(JSON.parse(run.stdout)).toMatchObject([
      { leadId: 'a', ok: false, answer: `waiting for forward http://127.0.0.1:${port}` },
    ]);
  });

  it('says that a lead still waits where no receiver tries it, and where the answers are: exit 7', async () => {
    const { home } = await refusedOnce();
    const run = await leads(['inbox', 'retry', '--pending'], { home });
    expect(run).toMatchObject({
      exitCode: 7,
      stdout: '',
      stderr:
        "1 lead still waits: no receiver that has the target tried again; 'leads inbox show ID' has the answers so far\n",
    });
    expect(await leads(['inbox', 'retry', 'taken'], { home })).toMatchObject({
      exitCode: 0,
      stderr:
        'no lead waits for a target: it was delivered, or has none; to send it all the same, add --to URL\n',
    });
  });

  it.each([
    [[], /ids of leads, or --pending/],
    [['--to', 'http://127.0.0.1:1'], /ids of leads, or --pending/],
    [['a', '--pending', '--to', 'http://127.0.0.1:1'], /ids of leads, or --pending/],
    [['a', '--to', 'http://app.example'], /is plain HTTP: leads and credentials/],
  ])('%s is a usage error', async (words, message) => {
    const run = await leads(['inbox', 'retry', ...words]);
    expect(run.exitCode).toBe(2);
    expect(run.stderr).toMatch(message);
  });
});

describe('what waits', () => {
  it('is exported, and said at the next start when the app is at another port now', async () => {
    const { home, port } = await refusedOnce();
    const { stdout } = await leads(['inbox', 'export', '--verdict', 'waiting'], { home });
    expect(stdout).toBe('{"id":"a","n":1.0}\n');
    const moved = await start(['--forward-to', `http://127.0.0.1:${port + 1}/hook`], { home });
    expect(moved.stderr.text()).toContain(
      `note: 1 lead waits for forward http://127.0.0.1:${port}, which is no target of this run: ` +
        "'leads inbox retry --pending --to URL' delivers it to the address that the app has now\n",
    );
    expect(moved.stderr.text()).toContain(
      `note: forward http://127.0.0.1:${port + 1} is new to this inbox, and gets new leads only: ` +
        "'leads inbox retry ID --to URL' sends an older one\n",
    );
  });

  it('for a command is said without the promise that a retry would run it', async () => {
    const failing = await start(['--exec', 'false', '--format', 'events']);
    expect((await failing.post('{"id":"x"}')).status).toBe(200);
    await until(() => failing.forwards().length === 1);
    await failing.stop();
    const next = await start([], { home: failing.home });
    expect(next.stderr.text()).toContain(
      'note: 1 lead waits for exec, which is no target of this run: a run that has that target tries again\n',
    );
  });
});
