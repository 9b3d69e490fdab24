import { join } from 'node:path';
import Libsql from 'libsql';
import { describe, expect, it } from 'vitest';
import { openInbox } from '../../../src/inbox/open-inbox.ts';
import { systemClock } from '../../../src/time/clock.ts';
import { FakeClock } from '../../support/clock.ts';
import { leads } from '../../support/run.ts';
import { type App, answering, appInEachTest } from '../listen/app.ts';
import { listenInEachTest, token } from '../listen/support.ts';

const start = listenInEachTest();
const startApp = appInEachTest();
const app = (status: number): Promise<App> => startApp(answering(status));

/** A home whose inbox has a lead that the app refused, twice, and one that it took; and the app's address. */
async function refusedOnce() {
  const broken = await startApp((request, response) =>
    response.writeHead(request.body.includes('taken') ? 200 : 400).end(),
  );
  const listener = await start(['--forward-to', `${broken.url}/hook`]);
  const headers = { 'x-webhook-token': token, 'x-sender': 'Zoë', 'content-type': 'application/json' };
  expect((await listener.post('{ "id": "a",  "n": 1.0 }', headers)).status).toBe(502);
  expect((await listener.post('{ "id": "a",  "n": 1.0 }', headers)).status).toBe(502);
  expect((await listener.post('{"id":"taken"}')).status).toBe(200);
  await listener.stop();
  await broken.close();
  const { port } = new URL(broken.url);
  return { home: listener.home, port: Number(port), url: `${broken.url}/hook` };
}

const idsPending = async (home: string): Promise<unknown[]> => {
  const { stdout } = await leads(['inbox', 'list', '--verdict', 'pending', '--json'], { home });
  return (JSON.parse(stdout) as { leadId: unknown }[]).map(({ leadId }) => leadId);
};

describe('leads inbox retry', () => {
  it('delivers what is outstanding as it came, without credentials, and settles it', async () => {
    const { home, port, url } = await refusedOnce();
    expect(await idsPending(home)).toEqual(['a']);
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
    expect(await idsPending(home)).toEqual([]);
    const again = await leads(['inbox', 'retry', '--pending', '--to', url], { home });
    expect(again).toMatchObject({ exitCode: 0, stderr: 'nothing is outstanding\n' });
    expect(mended.received).toHaveLength(1);
  });

  it('of named leads to another address delivers a copy, and leaves them outstanding where they were', async () => {
    const { home } = await refusedOnce();
    const other = await app(200);
    const run = await leads(['inbox', 'retry', 'a', 'taken', '--to', other.url, '--json'], { home });
    expect(JSON.parse(run.stdout)).toMatchObject([
      { leadId: 'a', ok: true, answer: '200', insteadOf: null },
      { leadId: 'taken', ok: true },
    ]);
    expect(other.received).toHaveLength(2);
    expect(await idsPending(home)).toEqual(['a']);
  });

  it('of what is pending to the address that the app has now settles it, and says for which one', async () => {
    const { home, port } = await refusedOnce();
    const moved = await app(200);
    const run = await leads(['inbox', 'retry', '--pending', '--to', `${moved.url}/new`], { home });
    expect(run).toMatchObject({ exitCode: 0, stderr: '1 lead delivered\n' });
    expect(run.stdout).toMatch(
      new RegExp(`^delivered {2}a {2}200 {2}\\S+ {2}instead of forward http://127.0.0.1:${port}\n$`),
    );
    expect(await idsPending(home)).toEqual([]);
    const listener = await start(['--forward-to', `${moved.url}/new`], { home });
    expect(listener.stderr.text()).not.toContain('outstanding');
    expect((await listener.post('{ "id": "a",  "n": 1.0 }')).body).toMatchObject({ status: 'duplicate' });
    expect(moved.received).toHaveLength(1);
  });

  it('of what is pending leaves what a receiver that runs still forwards to another address', async () => {
    const broken = await app(500);
    const listener = await start(['--forward-to', `${broken.url}/hook`]);
    const { home } = listener;
    expect((await listener.post('{"id":"a"}')).status).toBe(502);
    const moved = await app(200);
    const retry = () => leads(['inbox', 'retry', '--pending', '--to', moved.url], { home });
    const run = await retry();
    expect(run.exitCode).toBe(0);
    expect(run.stdout).toMatch(/^delivered {2}a {2}200 {2}\S+\n$/);
    expect(run.stderr).toContain(
      `note: 1 lead is still outstanding, for forward ${broken.url}: a receiver that runs forwards to it`,
    );
    expect(await idsPending(home)).toEqual(['a']);
    // The address had it: it is not delivered there a second time.
    expect((await retry()).stdout).toBe('');
    expect(moved.received).toHaveLength(1);
    await listener.post('{"id":"a"}');
    expect(broken.received).toHaveLength(2);
    await listener.stop();
    expect((await retry()).stdout).toMatch(/^settled {4}a {2}had it before .*instead of forward http/);
    expect(moved.received).toHaveLength(1);
    expect(await idsPending(home)).toEqual([]);
  });

  it('of what is pending for an address that refuses it again is exit 7, and stays outstanding', async () => {
    const { home } = await refusedOnce();
    const refusing = await app(503);
    const run = await leads(['inbox', 'retry', '--pending', '--to', refusing.url], { home });
    expect(run.exitCode).toBe(7);
    expect(run.stdout).toMatch(/^failed {5}a {2}503/);
    expect(run.stderr).toBe('0 of 1 lead delivered, 1 failed\n');
    expect(await idsPending(home)).toEqual(['a']);
  });

  it('that no lead got an answer to is exit 5, and stays outstanding', async () => {
    const { home, url } = await refusedOnce();
    const run = await leads(['inbox', 'retry', '--pending', '--to', url], { home });
    expect(run.exitCode).toBe(5);
    expect(run.stdout).toMatch(/^failed {5}a {2}connection refused/);
    expect(run.stderr).toMatch(
      /^error: cannot reach http:\/\/127\.0\.0\.1:\d+: connection refused\nhint: .*outstanding/,
    );
    expect(await idsPending(home)).toEqual(['a']);
  });

  it('of an id that the inbox does not have is exit 7, and delivers none of the others', async () => {
    const { home } = await refusedOnce();
    const other = await app(200);
    const run = await leads(['inbox', 'retry', 'a', 'nobody', '--to', other.url], { home });
    expect(run.exitCode).toBe(7);
    expect(run.stderr).toContain("no delivery of the lead 'nobody'");
    expect(other.received).toHaveLength(0);
  });

  it('leaves what is outstanding for something else, and says so', async () => {
    const { home } = await refusedOnce();
    const failing = await start(['--exec', 'false'], { home });
    expect((await failing.post('{"id":"x"}')).status).toBe(502);
    await failing.stop();
    const moved = await app(200);
    const run = await leads(['inbox', 'retry', '--pending', '--to', moved.url], { home });
    expect(run.exitCode).toBe(0);
    expect(moved.received).toHaveLength(2);
    expect(run.stderr).toContain('note: 1 lead is still outstanding, for exec');
    expect(await idsPending(home)).toEqual(['x']);
  });

  it('shows every result, the retries included, without the address', async () => {
    const { home, port, url } = await refusedOnce();
    await startApp(answering(200), port);
    await leads(['inbox', 'retry', '--pending', '--to', url.replace('//', '//user:password@')], {
      home,
    });
    const { stdout } = await leads(['inbox', 'show', 'a', '--json'], { home });
    const shown = JSON.parse(stdout) as { results: { answer: string; kind: string; target: string }[] }[];
    expect(shown.map(({ results }) => results.map(({ answer, kind }) => [answer, kind]))).toEqual([
      [
        ['400', 'forward'],
        ['200', 'retry'],
      ],
      [['400', 'retry']],
    ]);
    expect(shown[0]?.results[0]?.target).toBe(`forward http://127.0.0.1:${port}`);
    expect(stdout).not.toMatch(/password|\/hook/);
    expect((await leads(['inbox', 'show', 'a'], { home })).stdout).toMatch(
      new RegExp(`forward http://127.0.0.1:${port} +400 \\(.*\\) at 20`),
    );
  });

  it('of what is pending begins anew what stays outstanding, also what was dead', async () => {
    const { home, port, url } = await refusedOnce();
    const location = join(home, 'data', 'inbox.db');
    const targets = [`forward ${url}`];
    const inbox = await openInbox({ location, clock: systemClock, targets });
    const lease = { leadId: 'a', seq: 1, target: `forward ${url}` };
    await inbox.lease([lease]);
    await inbox.release([{ ...lease, dead: true }]);
    const label = `forward http://127.0.0.1:${port}`;
    const dead = await leads(['inbox', 'list', '--verdict', 'dead', '--json'], { home });
    expect(JSON.parse(dead.stdout)).toMatchObject([{ leadId: 'a', verdict: 'pending' }]);
    const shown = await leads(['inbox', 'show', 'a'], { home });
    expect(shown.stdout).toMatch(new RegExp(`${label} +dead after \\d+ tr`));
    const json = await leads(['inbox', 'show', 'a', '--json'], { home });
    expect(JSON.parse(json.stdout)).toMatchObject([
      { outstanding: [{ target: label, dueAt: null, dead: true }] },
      {},
    ]);
    const mended = await startApp(answering(200), port);
    const listener = await start(['--forward-to', url], { home });
    expect(listener.stderr.text()).toContain(
      `note: 1 lead is dead for ${label}: 'leads inbox retry --pending' has this receiver try again\n`,
    );
    await listener.stop();
    await mended.close();
    expect(await inbox.nextDueAt(lease.target)).toBeUndefined();
    await leads(['inbox', 'retry', '--pending', '--to', url], { home, clock: systemClock });
    expect(await inbox.nextDueAt(lease.target)).toBeLessThanOrEqual(Date.now());
    expect(await inbox.outstanding()).toMatchObject([{ leads: 1, dead: 0 }]);
    await inbox.lease([lease]);
    await inbox.release([{ ...lease, dead: true }]);
    await inbox.close();
    const taking = await startApp(answering(200), port);
    const clock = new FakeClock(Date.now());
    const running = await start(['--forward-to', url], { home, clock });
    const anew = await leads(['inbox', 'retry', '--pending'], { home });
    expect(anew).toMatchObject({
      exitCode: 0,
      stderr: '1 lead begins anew: receivers that run try again\n',
    });
    await expect
      .poll(() => {
        clock.advance(10_000);
        return taking.received.length;
      })
      .toBe(1);
    await running.stop();
    expect(await idsPending(home)).toEqual([]);
  });

  it.each([
    [['a'], /--to says where/],
    [['--to', 'http://127.0.0.1:1'], /ids of leads, or --pending/],
    [['a', '--pending', '--to', 'http://127.0.0.1:1'], /ids of leads, or --pending/],
    [['a', '--to', 'http://app.example'], /plain HTTP to this machine only/],
  ])('%s is a usage error', async (words, message) => {
    const run = await leads(['inbox', 'retry', ...words]);
    expect(run.exitCode).toBe(2);
    expect(run.stderr).toMatch(message);
  });
});

describe('what is outstanding', () => {
  it('is exported, and said at the next start when the app is at another port now', async () => {
    const { home, port } = await refusedOnce();
    const { stdout } = await leads(['inbox', 'export', '--verdict', 'pending'], { home });
    expect(stdout).toBe('{"id":"a","n":1.0}\n');
    const moved = await start(['--forward-to', `http://127.0.0.1:${port + 1}/hook`], { home });
    expect(moved.stderr.text()).toContain(
      `note: 1 lead is outstanding for another target, forward http://127.0.0.1:${port}: ` +
        "'leads inbox retry --pending --to URL' delivers it to the address that the app has now\n",
    );
    await moved.stop();
  });

  it('for a command is said without the promise that a retry would run it', async () => {
    const failing = await start(['--exec', 'false']);
    expect((await failing.post('{"id":"x"}')).status).toBe(502);
    await failing.stop();
    const next = await start([], { home: failing.home });
    expect(next.stderr.text()).toContain(
      'note: 1 lead is outstanding for another target, exec: a run that has that target tries again\n',
    );
  });

  it('is left alone while a receiver hands it on', async () => {
    const { home, url } = await refusedOnce();
    const inbox = await openInbox({
      location: join(home, 'data', 'inbox.db'),
      clock: systemClock,
      targets: [`forward ${url}`],
      leaseMs: 60_000,
      pid: process.ppid,
    });
    expect(await inbox.lease([{ leadId: 'a', seq: 1, target: `forward ${url}` }])).toMatchObject([
      { state: 'leased' },
    ]);
    const run = await leads(['inbox', 'retry', '--pending', '--to', url], { home, clock: systemClock });
    await inbox.close();
    expect(run.exitCode).toBe(7);
    expect(run.stdout).toContain('a receiver is handing it on now');
  });

  it('is delivered although another lead cannot be read, which is said and stays free', async () => {
    const broken = await app(400);
    const listener = await start(['--forward-to', broken.url]);
    for (const id of ['damaged', 'gone', 'a', 'b']) expect((await listener.post({ id })).status).toBe(502);
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
    expect(database.prepare('SELECT lease FROM work WHERE done = 0').all([])).toMatchObject([
      { lease: 0 },
      {},
    ]);
    database.close();
  });
});
