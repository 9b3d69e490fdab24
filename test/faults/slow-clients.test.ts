import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setInterval } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { type Listening, startListen, startReady } from '../support/listening.ts';
import { buildProgram } from '../support/program.ts';
import { until } from '../support/until.ts';
import { openWire, post, statuses, Wire } from '../support/wire.ts';
import { full } from '../support/faults.ts';

/** Promise 8: slow and oversized clients cannot hold it. In CI the clocks run ten times faster. */
const limitMs = full ? 15_000 : 1_500;
const program = await buildProgram(new URL('./receiver-program.ts', import.meta.url));

/** The real `leads listen` in full; otherwise its receiver alone, with shorter times. */
async function start(options: { plain: boolean; under?: readonly string[] }): Promise<Listening> {
  const { plain, under = [] } = options;
  const dataDir = mkdtempSync(join(tmpdir(), 'leads-faults-'));
  const limits = { requestMs: limitMs, answerMs: limitMs };
  const listening = full
    ? await startListen(['--token', 't', ...(plain ? ['--http'] : [])], { dataDir, under })
    : await startReady(
        [...under, process.execPath, program, JSON.stringify({ dataDir, plain, limits })],
        dataDir,
      );
  onTestFinished(() => void listening.child.kill('SIGKILL'));
  return listening;
}

const lead = (id: string): string => JSON.stringify({ id, category: 'solar' });
const headers = ['x-webhook-token: t', 'Content-Type: application/json'];

/** Whether a client that does everything right gets its 200. */
async function isHealthy({ port, ca }: Listening): Promise<boolean> {
  try {
    const wire = await openWire(port, ca);
    wire.send(post(lead(`l-${String(Math.random())}`), headers));
    const text = await wire.until(/HTTP\/1\.1 \d{3}/, 2_000);
    wire.socket.destroy();
    return statuses(text)[0] === 200;
  } catch {
    return false;
  }
}

async function trickle(wire: Wire, bytes: string): Promise<void> {
  for await (const _ of setInterval(limitMs / 50)) {
    if (!wire.socket.writable) return;
    wire.send(bytes);
  }
}

/** A TCP connection that speaks for itself, whatever the server expects. */
const openTcp = (port: number): Promise<Wire> => openWire(port);

/** A well-formed start of a TLS handshake, as far as it goes: the header of a record of 512 bytes. */
const startOfHandshake = '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03';

const slowBody = `POST / HTTP/1.1\r\nHost: x\r\n${headers.join('\r\n')}\r\nContent-Length: 5000\r\n\r\n`;

/** Opens a connection and says when its clock began, if not with the connection. */
type Client = (listening: Listening) => Promise<Wire | { wire: Wire; since: number }>;

const clients: Readonly<Record<string, Client>> = {
  'silent TCP': ({ port }) => openTcp(port),
  'silent TLS': ({ port, ca }) => openWire(port, ca),
  'slow TLS handshake': async ({ port }) => {
    const wire = await openTcp(port);
    wire.send(startOfHandshake);
    void trickle(wire, '\0');
    return wire;
  },
  'slow headers': async ({ port, ca }) => {
    const wire = await openWire(port, ca);
    wire.send('POST / HTTP/1.1\r\nHost: x\r\nX-Slow: ');
    void trickle(wire, 'x');
    return wire;
  },
  'slow body': async ({ port, ca }) => {
    const wire = await openWire(port, ca);
    wire.send(slowBody);
    void trickle(wire, 'x');
    return wire;
  },
  'slow chunks': async ({ port, ca }) => {
    const wire = await openWire(port, ca);
    wire.send('POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n');
    void trickle(wire, '1\r\nx\r\n');
    return wire;
  },
  'slow second request': async ({ port, ca }) => {
    const wire = await openWire(port, ca);
    wire.send(post(lead('l-1'), headers));
    await wire.until(/\r\n\r\n\{/);
    const since = performance.now();
    wire.send('POST / HTTP/1.1\r\n');
    void trickle(wire, 'x');
    return { wire, since };
  },
  'body over the limit': async ({ port, ca }) => {
    const wire = await openWire(port, ca);
    wire.send('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2000000\r\n\r\n');
    void trickle(wire, 'x'.repeat(1_000));
    return wire;
  },
};

test('every slow client is cut in time, and all of them together', async () => {
  const listening = await start({ plain: false });
  for (let i = 0; i < 20; i += 1) expect(await isHealthy(listening)).toBe(true);
  const before = listening.memory();
  const times = await Promise.all(
    Object.entries(clients).flatMap(([name, open]) =>
      Array.from({ length: 10 }, async () => {
        const start = performance.now();
        const opened = await open(listening);
        const { wire, since } = opened instanceof Wire ? { wire: opened, since: start } : opened;
        await wire.closed(2 * limitMs);
        return { name, ms: performance.now() - since };
      }),
    ),
  );
  const longest = times.reduce((a, b) => (a.ms > b.ms ? a : b));
  const growth = (listening.memory() - before) / 1e6;
  expect(await isHealthy(listening)).toBe(true);
  console.log(
    `promise 8: ${times.length} slow clients of ${Object.keys(clients).length} kinds: the last (${longest.name}) ` +
      `cut after ${(longest.ms / 1000).toFixed(1)} s of ${limitMs / 1000} s, memory +${growth.toFixed(0)} MB`,
  );
  // Timers of this process and of that one may each be late by a little.
  expect(longest.ms).toBeLessThan(limitMs + 500);
  expect(growth).toBeLessThan(20);
});

test('an endless body is answered early and costs no memory', async () => {
  const listening = await start({ plain: true });
  for (let i = 0; i < 20; i += 1) expect(await isHealthy(listening)).toBe(true);
  const total = full ? 1024 ** 3 : 1024 ** 3 / 10;
  const before = listening.memory();
  let most = before;
  const wire = await openWire(listening.port);
  const since = performance.now();
  let answeredMs: number | undefined;
  wire.socket.once('data', () => (answeredMs = performance.now() - since));
  wire.send('POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n');
  const chunk = Buffer.concat([Buffer.from('40000\r\n'), Buffer.alloc(0x40000, 'x'), Buffer.from('\r\n')]);
  let sent = 0;
  while (sent < total && wire.socket.writable) {
    if (!wire.socket.write(chunk)) await drained(wire);
    sent += 0x40000;
    most = Math.max(most, listening.memory());
  }
  await wire.closed();
  expect(statuses(wire.text())).toEqual([413]);
  expect(await isHealthy(listening)).toBe(true);
  const growth = (Math.max(most, listening.memory()) - before) / 1e6;
  console.log(
    `promise 8: chunked body of ${Math.round(total / 1024 ** 2)} MiB: answered 413 after ${(answeredMs ?? 0).toFixed(0)} ms, ` +
      `cut after ${(sent / 1024 ** 2).toFixed(0)} MiB, memory +${growth.toFixed(1)} MB`,
  );
  expect(growth).toBeLessThan(20);
});

const drained = (wire: Wire): Promise<void> =>
  new Promise((resolve) => {
    wire.socket.once('drain', resolve).once('close', () => resolve());
  });

test('more slow bodies than descriptors do not keep others out for long', async () => {
  const descriptors = full ? 1_024 : 128;
  const count = full ? 1_500 : 150;
  const under = ['sh', '-c', `ulimit -n ${descriptors} && exec "$0" "$@"`];
  const listening = await start({ plain: false, under });
  expect(await isHealthy(listening)).toBe(true);
  const before = listening.memory();
  const slow = await Promise.all(
    Array.from({ length: count }, async () => {
      const wire = await openWire(listening.port, listening.ca).catch(() => undefined);
      wire?.send(slowBody);
      return wire;
    }),
  );
  const since = performance.now();
  for (const wire of slow) if (wire !== undefined) void trickle(wire, 'x');
  const refusedAtFirst = !(await isHealthy(listening));
  await until(() => isHealthy(listening), 'a healthy receiver', 2 * limitMs);
  const healthyMs = performance.now() - since;
  const growth = (listening.memory() - before) / 1e6;
  const held = slow.filter((wire) => wire !== undefined).length;
  console.log(
    `promise 8: ${count} slow bodies at ${descriptors} descriptors: ${held} held, the others turned away, ` +
      `healthy again after ${(healthyMs / 1000).toFixed(1)} s of ${limitMs / 1000} s, memory +${growth.toFixed(0)} MB`,
  );
  expect(listening.child.exitCode).toBeNull();
  expect(refusedAtFirst).toBe(true);
  expect(healthyMs).toBeLessThan(limitMs + 500);
});
