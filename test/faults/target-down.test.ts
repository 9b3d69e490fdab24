import { createServer } from 'node:http';
import { join } from 'node:path';
import { Pool } from 'undici';
import { afterEach, expect, it } from 'vitest';
import { openInboxReader } from '../../src/inbox/open-inbox.ts';
import { systemClock } from '../../src/time/clock.ts';
import { full, printFigure, sized } from '../support/faults.ts';
import { inParallel } from '../support/in-parallel.ts';
import { type ListenProcess, listenProcess } from '../support/listen-process.ts';
import { residentBytes } from '../support/listening.ts';
import { until } from '../support/until.ts';
import { openServer } from '../support/open-server.ts';

const rounds = 10;
const perRound = sized(100_000) / rounds;
const inFlight = 32;
/** In bytes: what leads that wait may take in memory, however many they are. */
const mostMemory = 64 * 2 ** 20;
/** Other work on the machine makes single rounds of a small run differ by more than what is looked for. */
const leastRatio = full ? 0.9 : 0.75;

const clean: (() => unknown)[] = [];
afterEach(async () => {
  for (const step of clean.splice(0).reverse()) await step();
});

/** An app that fails until it is mended. Counts its requests, and the leads that it took. */
async function startApp() {
  const state = { isDown: true, requests: 0, taken: new Map<string, number>() };
  const server = createServer((request, response) => {
    state.requests += 1;
    const id = String(request.headers['leads-lead-id']);
    request.resume().on('end', () => {
      if (!state.isDown) state.taken.set(id, (state.taken.get(id) ?? 0) + 1);
      response.writeHead(state.isDown ? 503 : 200).end();
    });
  });
  const opened = await openServer(server);
  clean.push(() => void opened.close());
  return Object.assign(state, { url: opened.url });
}

interface Receiver extends ListenProcess {
  /** Delivers the leads of a round. Resolves to how many it took in a second. */
  round(number: number): Promise<number>;
  /** The memory that the process takes, in bytes. */
  memory(): number;
}

async function startReceiver(flags: readonly string[]): Promise<Receiver> {
  const listener = await listenProcess(['--http', '--port', '0', '--token', 't', ...flags]);
  clean.push(() => listener.end('SIGKILL'));
  const pool = new Pool(listener.url, { connections: inFlight });
  clean.push(() => pool.destroy());
  const headers = { 'content-type': 'application/json', 'x-webhook-token': 't' };
  return {
    ...listener,
    async round(number) {
      const ids = Array.from({ length: perRound }, (_, i) => `lead-${number}-${i}`);
      const began = performance.now();
      await inParallel(ids, inFlight, async (id) => {
        const body = JSON.stringify({ id, category: 'solar', contact: { name: `Person ${id}` } });
        const answer = await pool.request({ method: 'POST', path: '/', headers, body });
        await answer.body.dump();
        expect(answer.statusCode).toBe(200);
      });
      return perRound / ((performance.now() - began) / 1000);
    },
    memory: () => residentBytes(listener.child.pid ?? 0),
  };
}

it('a target that is down costs no sender time and no memory, and gets all that waited once it is back', async () => {
  const app = await startApp();
  const plain = await startReceiver([]);
  const down = await startReceiver(['--forward-to', app.url]);
  const ratios: number[] = [];
  let rates = { plain: 0, down: 0 };
  for (let number = 0; number < rounds; number += 1) {
    // Each goes first in half of the rounds.
    const order = number % 2 === 0 ? [plain, down] : [down, plain];
    const rate = new Map<Receiver, number>();
    for (const one of order) rate.set(one, await one.round(number));
    const both = { plain: rate.get(plain) ?? 0, down: rate.get(down) ?? 0 };
    rates = { plain: rates.plain + both.plain / rounds, down: rates.down + both.down / rounds };
    ratios.push(both.down / both.plain);
  }
  const ratio = ratios.toSorted((a, b) => a - b)[rounds / 2 - 1] ?? 0;
  const waiting = rounds * perRound;
  const more = down.memory() - plain.memory();
  const location = join(down.home, 'data', 'inbox.db');
  const inbox = await openInboxReader({ location, clock: systemClock });
  expect(await inbox.targetCounts()).toMatchObject([{ waiting, dead: 0 }]);
  await inbox.close();
  const probes = app.requests;
  app.isDown = false;
  await until(() => app.taken.size === waiting, 'all that waited', full ? 900_000 : 180_000);
  const atMost = Math.max(more, down.memory() - plain.memory());
  printFigure(
    3,
    `a target down under ${waiting} durable leads: ${Math.round(rates.down)}/s of ${Math.round(rates.plain)}/s without ` +
      `(median of the rounds × ${ratio.toFixed(2)}), ${probes} attempts meanwhile, ` +
      `${Math.round(more / 2 ** 20)} MiB more with all of them waiting, ${Math.round(atMost / 2 ** 20)} MiB at most; then all forwarded`,
  );
  expect(ratio).toBeGreaterThan(leastRatio);
  expect(probes).toBeLessThan(70);
  expect(atMost).toBeLessThan(mostMemory);
  expect([...app.taken.values()].filter((times) => times > 1)).toEqual([]);
});
