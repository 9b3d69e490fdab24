import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { openInbox } from '../../../src/inbox/open-inbox.ts';
import { systemClock } from '../../../src/time/clock.ts';
import { leads } from '../../support/run.ts';
import { type App, answering, startApp } from '../listen/app.ts';
import { listenInEachTest, token } from '../listen/support.ts';

const start = listenInEachTest();
const apps: App[] = [];
afterEach(async () => {
  for (const app of apps.splice(0)) await app.close();
});

async function app(status: number): Promise<App> {
  const started = await startApp(answering(status));
  apps.push(started);
  return started;
}

/** A home whose inbox has a lead that the app refused, twice, and one that it took; and the app's address. */
async function refusedOnce() {
  const broken = await startApp((request, response) =>
    response.writeHead(request.body.includes('taken') ? 200 : 500).end(),
  );
  apps.push(broken);
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
    apps.push(mended);
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

  it('to another address delivers, and leaves it outstanding where it was', async () => {
    const { home } = await refusedOnce();
    const other = await app(200);
    const run = await leads(['inbox', 'retry', 'a', 'taken', '--to', other.url, '--json'], { home });
    expect(JSON.parse(run.stdout)).toMatchObject([
      { leadId: 'a', ok: true, answer: '200' },
      { leadId: 'taken', ok: true },
    ]);
    expect(other.received).toHaveLength(2);
    expect(await idsPending(home)).toEqual(['a']);
  });

  it('that fails is exit 7, and stays outstanding', async () => {
    const { home, url } = await refusedOnce();
    const run = await leads(['inbox', 'retry', '--pending', '--to', url], { home });
    expect(run).toMatchObject({
      exitCode: 7,
      stdout: expect.stringMatching(/^failed {5}a {2}connection refused/) as string,
    });
    expect(await idsPending(home)).toEqual(['a']);
  });

  it('shows every result, the retries included, without the address', async () => {
    const { home, port, url } = await refusedOnce();
    apps.push(await startApp(answering(200), port));
    await leads(['inbox', 'retry', '--pending', '--to', url.replace('//', '//user:password@')], {
      home,
    });
    const { stdout } = await leads(['inbox', 'show', 'a', '--json'], { home });
    const shown = JSON.parse(stdout) as { results: { answer: string; target: string }[] }[];
    expect(shown.map(({ results }) => results.map(({ answer }) => answer))).toEqual([
      ['500', '200'],
      ['500'],
    ]);
    expect(shown[0]?.results[0]?.target).toBe(`forward http://127.0.0.1:${port}`);
    expect(stdout).not.toMatch(/password|\/hook/);
    expect((await leads(['inbox', 'show', 'a'], { home })).stdout).toMatch(
      new RegExp(`forward http://127.0.0.1:${port} +500 \\(.*\\) at 20`),
    );
  });

  it.each([
    [['--pending'], /--to says where/],
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
      `note: 1 lead is outstanding for another target, forward http://127.0.0.1:${port}`,
    );
    await moved.stop();
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
    expect(await inbox.lease([{ leadId: 'a', seq: 1, target: `forward ${url}` }])).toEqual(['leased']);
    const run = await leads(['inbox', 'retry', '--pending', '--to', url], { home, clock: systemClock });
    await inbox.close();
    expect(run.exitCode).toBe(7);
    expect(run.stdout).toContain('a receiver is handing it on now');
  });
});
