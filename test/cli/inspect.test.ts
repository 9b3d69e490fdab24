import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { openInbox } from '../../src/inbox/open-inbox.ts';
import type { WireDelivery, WireInbox, WirePage, WireProblem, WireReplayed } from '../../src/inspect/wire.ts';
import { systemClock } from '../../src/time/clock.ts';
import { arrivalOf } from '../inbox/support.ts';
import { locationOf } from '../inbox/postgres/location.ts';
import {
  type InspectClient,
  inspectClient,
  inspectProcess,
  type InspectProcess,
  inspectUrlIn,
} from '../support/inspect-process.ts';
import { listenProcess } from '../support/listen-process.ts';
import { newInboxUrl } from '../support/postgres/address.ts';
import { sharedPostgres } from '../support/postgres/shared.ts';
import { freshHome, leads } from '../support/run.ts';
import { openServer } from '../support/open-server.ts';
import { until } from '../support/until.ts';

const plain = ['--http', '--port', '0'];
const postgres = await sharedPostgres();
const open: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

async function inspect(...args: Parameters<typeof inspectProcess>): Promise<InspectProcess> {
  const page = await inspectProcess(...args);
  open.push(() => page.end('SIGKILL'));
  return page;
}

async function listen(...args: Parameters<typeof listenProcess>): ReturnType<typeof listenProcess> {
  const listener = await listenProcess(...args);
  open.push(() => listener.end('SIGKILL'));
  return listener;
}

const deliver = (url: string, body: object, token = 'secret'): Promise<Response> =>
  fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-webhook-token': token },
    body: JSON.stringify(body),
  });

const answerOf = async <T extends object>(answer: Promise<Response>): Promise<T> =>
  (await (await answer).json()) as T;

describe('leads inspect', () => {
  it('shows the inbox of a receiver in another process, live, replays to it, and ends with 0', async () => {
    const home = freshHome();
    const listener = await listen([...plain, '--token', 'secret'], { home });
    await deliver(listener.url, { id: 'a', contact: { name: 'Ann' } });
    const page = await inspect(['--replay-to', `${listener.url}/again`, '--token', 'secret'], home);
    const client = await inspectClient(page.url);
    const list = await answerOf<WirePage>(client.get('/api/deliveries'));
    expect(list.rows).toMatchObject([{ leadId: 'a', name: 'Ann', verdict: 'accepted' }]);
    const { mark } = await answerOf<WireInbox>(client.get('/api/inbox'));
    expect(await answerOf<WireInbox>(client.get('/api/inbox'))).toMatchObject({ mark });
    await deliver(listener.url, { id: 'b' });
    expect((await answerOf<WireInbox>(client.get('/api/inbox'))).mark).not.toBe(mark);
    const arrived = await answerOf<WirePage>(client.get('/api/deliveries?after=1'));
    expect(arrived.rows).toMatchObject([{ leadId: 'b' }]);
    const found = await answerOf<WirePage>(client.get('/api/deliveries?text=ann'));
    expect(found.rows).toMatchObject([{ leadId: 'a' }]);
    const target = `forward ${listener.url}/again`;
    const replayed = await answerOf<WireReplayed>(client.post('/api/replays', { seq: 1, target }));
    expect(replayed).toMatchObject({ ok: true, answer: '200' });
    // The receiver takes it, since it is signed, and can tell that it is a replay.
    const after = await answerOf<WirePage>(client.get('/api/deliveries?text=a'));
    expect(after.rows).toMatchObject([
      { verdict: 'duplicate', source: 'replay' },
      { verdict: 'accepted', done: 0 },
    ]);
    const { results } = await answerOf<WireDelivery>(client.get('/api/deliveries/1'));
    expect(results).toMatchObject([{ ok: true, answer: '200' }]);
    expect(await page.end('SIGINT')).toBe(0);
    // The one that was opened, and the next one.
    expect(page.stderr().match(/#key=/g)).toHaveLength(2);
  });

  it('says that there is no inbox, and that one in memory is nobody else’s', async () => {
    const missing = await leads(['inspect', '--inbox', join(freshHome(), 'none.db')]);
    expect([missing.exitCode, missing.stderr]).toEqual([3, expect.stringMatching(/there is no inbox/)]);
    expect((await leads(['inspect', '--inbox', ':memory:'])).exitCode).toBe(2);
    const location = join(freshHome(), 'inbox.db');
    await (await openInbox({ location, clock: systemClock })).close();
    const plain = await leads(['inspect', '--inbox', location, '--replay-to', 'http://receiver.example/']);
    expect([plain.exitCode, plain.stderr]).toEqual([2, expect.stringMatching(/plain HTTP/)]);
  });

  it('says that its inbox was moved, and sends nothing of another one in its place', async () => {
    const inboxWith = async (id: string): Promise<string> => {
      const place = join(freshHome(), 'inbox.db');
      const inbox = await openInbox({ location: place, clock: systemClock });
      await inbox.take([arrivalOf({ id })]);
      await inbox.close();
      return place;
    };
    const location = await inboxWith('a');
    const url = 'http://127.0.0.1:1/';
    const page = await inspect(['--inbox', location, '--replay-to', url], freshHome());
    const client = await inspectClient(page.url);
    await expect.poll(() => client.get('/api/inbox').then(({ status }) => status)).toBe(200);
    renameSync(location, `${location}.old`);
    const problem = expect.stringMatching(/deleted or moved while in use/) as string;
    const moved = { code: 'inbox-failed', problem };
    expect(await answerOf<WireProblem>(client.get('/api/inbox'))).toMatchObject(moved);
    const replay = () =>
      answerOf<WireProblem>(client.post('/api/replays', { seq: 1, target: `forward ${url}` }));
    expect(await replay()).toMatchObject(moved);
    expect(existsSync(location)).toBe(false);
    renameSync(await inboxWith('b'), location);
    expect(await replay()).toMatchObject(moved);
    expect(await page.end('SIGINT')).toBe(0);
  });

  it('opens the browser by a file that only this user can read, and removes it', async () => {
    const home = freshHome();
    const inbox = await openInbox({ location: join(home, 'inbox.db'), clock: systemClock });
    await inbox.close();
    const programs = join(home, 'programs');
    mkdirSync(programs);
    const seenBy = join(home, 'seen');
    writeFileSync(
      join(programs, 'xdg-open'),
      `#!/bin/sh\ncp "$1" "${seenBy}.html"; env > "${seenBy}.env"; echo "$@" > "${seenBy}"\n`,
    );
    chmodSync(join(programs, 'xdg-open'), 0o755);
    const page = await inspect(['--inbox', join(home, 'inbox.db'), '--open'], home, {
      DISPLAY: ':0',
      PATH: `${programs}:${process.env['PATH'] ?? ''}`,
      LEADS_WEBHOOK_TOKEN: 'hidden',
    });
    await expect.poll(() => existsSync(seenBy)).toBe(true);
    const words = readFileSync(seenBy, 'utf8').trim();
    expect(words).not.toContain('key');
    expect(statSync(words).mode & 0o777).toBe(0o600);
    expect(statSync(dirname(words)).mode & 0o777).toBe(0o700);
    expect(readFileSync(`${seenBy}.html`, 'utf8')).toContain(`url=${page.url}"`);
    expect(readFileSync(`${seenBy}.env`, 'utf8')).not.toContain('hidden');
    await inspectClient(page.url);
    await expect.poll(() => existsSync(dirname(words))).toBe(false);
    expect(await page.end('SIGTERM')).toBe(0);
  });

  it.skipIf(postgres === undefined)('shows an inbox in PostgreSQL', async () => {
    if (postgres === undefined) return;
    const url = newInboxUrl(postgres);
    const inbox = await openInbox({ location: locationOf(url), clock: systemClock });
    open.push(() => inbox.close());
    await inbox.take([arrivalOf({ id: 'a' })]);
    const page = await inspect([], freshHome(), { LEADS_INBOX: url });
    const client = await inspectClient(page.url);
    const described = await answerOf<WireInbox>(client.get('/api/inbox'));
    expect(described.location).not.toContain(new URL(url).password);
    const { mark } = await answerOf<WireInbox>(client.get('/api/inbox'));
    await inbox.take([arrivalOf({ id: 'b' })]);
    expect((await answerOf<WireInbox>(client.get('/api/inbox'))).mark).not.toBe(mark);
    const list = await answerOf<WirePage>(client.get('/api/deliveries'));
    expect(list.rows.map(({ leadId }) => leadId)).toEqual(['b', 'a']);
    expect(await page.end('SIGINT')).toBe(0);
  });
});

describe('leads listen --inspect', () => {
  const pageOf = async (listener: { stderr(): string }): Promise<InspectClient> =>
    inspectClient(inspectUrlIn(listener.stderr()) ?? '');

  it.each(['SIGINT', 'SIGKILL'] as const)(
    'serves the page from a process of its own, which ends with the receiver, by %s',
    async (signal) => {
      const listener = await listen([...plain, '--token', 'secret', '--inspect']);
      const page = await pageOf(listener);
      await deliver(listener.url, { id: 'a' });
      expect((await answerOf<WirePage>(page.get('/api/deliveries'))).rows).toMatchObject([{ leadId: 'a' }]);
      expect(await answerOf<WireInbox>(page.get('/api/inbox'))).toMatchObject({ targets: [] });
      await listener.end(signal);
      await until(
        () =>
          page
            .get('/')
            .then(() => false)
            .catch(() => true),
        'the end of the page',
      );
    },
  );

  it('goes on receiving when the page is killed, and says so', async () => {
    const listener = await listen([...plain, '--token', 'secret', '--inspect']);
    const [child = ''] = childrenOf(listener.child.pid);
    process.kill(Number(child), 'SIGKILL');
    await expect.poll(() => listener.stderr()).toMatch(/the page of --inspect ended \(SIGKILL\)/);
    expect((await deliver(listener.url, { id: 'a' })).status).toBe(200);
    expect(await listener.end('SIGINT')).toBe(0);
  });

  it('says what kept the page from starting, and refuses an inbox that the page cannot see', async () => {
    const { port, close } = await openServer(createServer());
    open.push(close);
    const words = ['listen', ...plain, '--token', 'secret', '--inspect'];
    const failed = await leads([...words, String(port)]);
    expect([failed.exitCode, failed.stderr]).toEqual([
      3,
      expect.stringMatching(/^error: the page of --inspect did not start: .*in use/m),
    ]);
    const inMemory = await leads([...words, '--inbox', ':memory:']);
    expect([inMemory.exitCode, inMemory.stderr]).toEqual([
      2,
      expect.stringMatching(/--inspect and --inbox :memory: do not go together/),
    ]);
  });

  it('replays to its forward, signed by its own secret, which no command line shows', async () => {
    const first = await listen([...plain, '--token', 'hidden-1', '--simulate', 'fail-first=1']);
    const target = `${first.url}/hook`;
    const home = freshHome();
    const tokenFile = join(home, 'token');
    writeFileSync(tokenFile, 'hidden-1\n');
    const flags = ['--token-file', tokenFile, '--inspect', '0', '--forward-to', target];
    const listener = await listen([...plain, ...flags], { home });
    expect((await deliver(listener.url, { id: 'a' }, 'hidden-1')).status).toBe(200);
    const page = await pageOf(listener);
    const waiting = async () => (await answerOf<WirePage>(page.get('/api/deliveries?verdict=waiting'))).rows;
    const resultsOf = async () =>
      (await answerOf<WireDelivery>(page.get('/api/deliveries/1'))).results.map(({ ok }) => ok);
    await expect.poll(resultsOf).toEqual([false]);
    expect(await waiting()).toMatchObject([{ leadId: 'a', waiting: 1 }]);
    expect((await answerOf<WireInbox>(page.get('/api/inbox'))).targets).toEqual([
      { name: `forward ${target}`, scheme: 'token' },
    ]);
    for (const child of childrenOf(listener.child.pid)) {
      expect(readFileSync(`/proc/${child}/cmdline`, 'utf8')).not.toContain('hidden-1');
    }
    const replayed = (to: string) =>
      answerOf<WireReplayed>(page.post('/api/replays', { seq: 1, target: `forward ${to}` }));
    expect(await replayed(target)).toMatchObject({ ok: true });
    expect(await waiting()).toEqual([]);
    expect(await resultsOf()).toEqual([false, true]);
    expect((await deliver(listener.url, { id: 'a' }, 'hidden-1')).status).toBe(200);
  });
});

/** The processes that a process has started (proc(5)). */
const childrenOf = (pid = 0): readonly string[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
    .split(' ')
    .filter((one) => one !== '');
