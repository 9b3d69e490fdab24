import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { request } from 'undici';
import { afterEach, expect, it } from 'vitest';
import { openInboxReader } from '../../src/inbox/open-inbox.ts';
import { systemClock } from '../../src/time/clock.ts';
import { type App, startApp } from '../commands/listen/app.ts';
import { freePort } from '../support/free-port.ts';
import { type ListenProcess, listenProcess, startProgram } from '../support/listen-process.ts';
import { freshHome } from '../support/run.ts';
import { full } from '../support/faults.ts';

const first = full ? 2000 : 300;
const kills = full ? 10 : 2;

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

/** A way to a port that can be cut: new connections are then closed at once, and those that are open too. */
async function cuttable(target: URL): Promise<{ url: string; isCut: boolean }> {
  const sockets = new Set<Socket>();
  let isCut = false;
  const server = createServer((near) => {
    const far = connect(Number(target.port), target.hostname);
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
    }
    near.pipe(far).pipe(near);
    if (isCut) near.destroy();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const cut = (): void => sockets.forEach((socket) => socket.destroy());
  ends.push(() => {
    cut();
    server.close();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get isCut() {
      return isCut;
    },
    set isCut(to) {
      isCut = to;
      if (to) cut();
    },
  };
}

async function idsAt(url: string): Promise<string[]> {
  const ids: string[] = [];
  for (let after: number | null = 0; after !== null;) {
    const answer = await request(`${url}/sandbox/leads?after=${after}`);
    const part = (await answer.body.json()) as { leads: { id: string }[]; next: number | null };
    ids.push(...part.leads.map(({ id }) => id));
    after = part.next;
  }
  return ids;
}

const idsOf = ({ received }: App): string[] =>
  received.map(({ body }) => (JSON.parse(body.toString()) as { id: string }).id);

const backfilled = ({ stdout }: ListenProcess): number => stdout().split('"source":"backfill"').length - 1;

it('self-healing: a fifth of the deliveries dropped, an outage and kill -9 in a round: every lead is in the inbox once, and forwarded', async () => {
  const home = freshHome();
  const app = await startApp((_, response) => setTimeout(() => response.writeHead(200).end(), 5));
  ends.push(() => app.close());
  const port = await freePort();
  const sandbox = startProgram(
    [
      ...['sandbox', '--json', '--port', '0', '--token', 't', '--webhook', `http://127.0.0.1:${port}/hook`],
      ...['--leads', String(first), '--every', '20ms', '--retry', 'none', '--delivery-faults', 'drop=20%'],
    ],
    home,
  );
  ends.push(() => {
    sandbox.child.kill('SIGINT');
    return sandbox.done;
  });
  const { url, apiKey } = JSON.parse(await sandbox.firstLine()) as { url: string; apiKey: string };
  const api = await cuttable(new URL(url));
  const argv = [
    ...['--token', 't', '--http', '--port', String(port), '--forward-to', app.url, '--format', 'events'],
    ...['--backfill', '36500d', '--backfill-every', '1s', '--retries', '0'],
  ];
  const env = { LEADS_API_KEY: apiKey, LEADS_BASE_URL: api.url };
  let listener = await listenProcess(argv, { home, env });
  ends.push(() => listener.end('SIGKILL'));

  for (let killed = 0; killed < kills; killed += 1) {
    const before = backfilled(listener);
    await expect.poll(() => backfilled(listener)).toBeGreaterThan(before);
    await listener.end('SIGKILL');
    listener = await listenProcess(argv, { home, env });
  }
  await expect.poll(() => listener.stderr(), { timeout: 60_000 }).toMatch(/backfill: \d+ fetched/);
  api.isCut = true;
  const failed = (): number => listener.stdout().split('"complete":false').length - 1;
  await expect.poll(failed, { timeout: 60_000 }).toBeGreaterThanOrEqual(2);
  const missed = await idsAt(url);
  api.isCut = false;

  await expect
    .poll(
      () => {
        const got = new Set(idsOf(app));
        return missed.filter((id) => !got.has(id)).length;
      },
      { timeout: full ? 120_000 : 60_000, interval: 100 },
    )
    .toBe(0);
  await expect.poll(() => listener.stderr()).toContain('the backfill works again, after');
  expect(await listener.end('SIGINT')).toBe(0);
  expect(listener.stderr().match(/the backfill ended early/g)).toHaveLength(1);

  const inbox = await openInboxReader({ location: join(home, 'data', 'inbox.db'), clock: systemClock });
  const stored = new Map<string, number>();
  let pulled = 0;
  for await (const { leadId, source } of inbox.leads({})) {
    stored.set(leadId, (stored.get(leadId) ?? 0) + 1);
    if (source === 'backfill') pulled += 1;
  }
  await inbox.close();
  expect(missed.filter((id) => stored.get(id) !== 1)).toEqual([]);
  const times = new Map<string, number>();
  for (const id of idsOf(app)) times.set(id, (times.get(id) ?? 0) + 1);
  const twice = [...times.values()].filter((count) => count > 1).length;
  console.log(
    `self-healing: ${missed.length} leads, ${pulled} of them by a round, ${kills} × kill -9 in one: not in the inbox 0, ` +
      `not forwarded 0, forwarded more than once ${twice}`,
  );
  expect(pulled).toBeGreaterThan(missed.length / 10);
});

it('self-healing by two receivers on one inbox: each lead is fetched and forwarded once', async () => {
  const home = freshHome();
  const app = await startApp((_, response) => setTimeout(() => response.writeHead(200).end(), 20));
  ends.push(() => app.close());
  const sandbox = startProgram(['sandbox', '--json', '--port', '0', '--leads', '300'], home);
  ends.push(() => {
    sandbox.child.kill('SIGINT');
    return sandbox.done;
  });
  const { url, apiKey } = JSON.parse(await sandbox.firstLine()) as { url: string; apiKey: string };
  const argv = [
    ...['--token', 't', '--http', '--port', '0', '--forward-to', app.url, '--format', 'events'],
    ...['--backfill', '36500d', '--backfill-every', '1s'],
  ];
  const env = { LEADS_API_KEY: apiKey, LEADS_BASE_URL: url };
  const both = await Promise.all([listenProcess(argv, { home, env }), listenProcess(argv, { home, env })]);
  const accepted = (): number =>
    both.reduce((sum, { stdout }) => sum + stdout().split('"verdict":"accepted"').length - 1, 0);
  await expect.poll(accepted, { timeout: 60_000 }).toBe(300);
  await expect.poll(() => app.received.length, { timeout: 60_000 }).toBe(300);
  for (const listener of both) expect(await listener.end('SIGINT')).toBe(0);
  expect(app.received).toHaveLength(300);
  expect(new Set(idsOf(app)).size).toBe(300);
  const inbox = await openInboxReader({ location: join(home, 'data', 'inbox.db'), clock: systemClock });
  let stored = 0;
  for await (const _ of inbox.leads({})) stored += 1;
  await inbox.close();
  expect(stored).toBe(300);
});
