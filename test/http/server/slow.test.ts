import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setInterval } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { ensureAuthority } from '../../../src/tls/local-authority.ts';
import { connectedReceiver, startReceiver, type TestReceiver } from '../../support/receiver.ts';
import { openWire, post, statuses, type Wire } from '../../support/wire.ts';

const tls = await ensureAuthority(mkdtempSync(join(tmpdir(), 'leads-slow-')), { now: Date.now });
const limits = { requestMs: 300, idleMs: 1_000, answerMs: 300 };
const start = (options: object = {}): Promise<TestReceiver> => startReceiver({ limits, ...options });

/** Sends a byte now and then, as slow clients do, until the connection ends. */
async function trickle(wire: Wire, bytes: string): Promise<void> {
  for await (const _ of setInterval(20)) {
    if (!wire.socket.writable) return;
    wire.send(bytes);
  }
}

/** How long the connection lived, in milliseconds; it ends late when both cores are busy, never early. */
async function lived(wire: Wire, since: number): Promise<number> {
  await wire.closed();
  return performance.now() - since;
}

describe('the limit of time for a request closes', () => {
  test('a TCP client that sends nothing, without a report', async () => {
    const receiver = await start();
    const since = performance.now();
    const wire = await openWire(receiver.port);
    expect(await lived(wire, since)).toBeGreaterThan(270);
    expect(wire.text()).toBe('');
    expect(receiver.rejected).toEqual([]);
  });

  test('a client that never starts its TLS handshake', async () => {
    const receiver = await start({ tls });
    const since = performance.now();
    expect(await lived(await openWire(receiver.port), since)).toBeGreaterThan(270);
  });

  test('a client that is silent after its TLS handshake', async () => {
    const receiver = await start({ tls });
    const since = performance.now();
    const wire = await openWire(receiver.port, tls.caPem);
    expect(await lived(wire, since)).toBeGreaterThan(270);
  });

  test.each([
    ['headers', 'POST / HTTP/1.1\r\nHost: x\r\nX-Slow: ', 'x'],
    ['a body', 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n', 'x'],
    ['chunks', 'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n', '1\r\nx\r\n'],
  ])('a slow %s, with 408', async (_name, first, rest) => {
    for (const ca of [undefined, tls]) {
      const receiver = await start({ tls: ca });
      const wire = await openWire(receiver.port, ca?.caPem);
      const since = performance.now();
      wire.send(first);
      await Promise.all([trickle(wire, rest), wire.closed()]);
      expect(performance.now() - since).toBeGreaterThan(200);
      expect(statuses(wire.text())).toEqual([408]);
      expect(receiver.rejected).toMatchObject([{ status: 408, reason: 'too_slow' }]);
      expect(receiver.deliveries).toEqual([]);
    }
  });

  test('a client that sends only empty lines', async () => {
    const { receiver, wire } = await connectedReceiver({ limits });
    await Promise.all([trickle(wire, '\r\n'), wire.closed()]);
    expect(receiver.deliveries).toEqual([]);
  });

  test('a slow second request of a connection, timed from its first byte', async () => {
    const { wire } = await connectedReceiver({ limits });
    wire.send(post('1'));
    await wire.until(/200 OK/);
    const since = performance.now();
    wire.send('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n');
    await Promise.all([trickle(wire, 'x'), wire.closed()]);
    expect(performance.now() - since).toBeGreaterThan(270);
    expect(statuses(wire.text())).toEqual([200, 408]);
  });
});

test('an idle connection stays open between requests, and is closed after its own limit', async () => {
  const { receiver, wire } = await connectedReceiver({ limits: { requestMs: 100, idleMs: 500 } });
  wire.send(post('1'));
  await wire.until(/200 OK/);
  const since = performance.now();
  expect(await lived(wire, since)).toBeGreaterThan(490);
  expect(receiver.rejected).toEqual([]);
});

test('the server waits for a slow handler', async () => {
  const { wire } = await connectedReceiver({
    limits: { requestMs: 60, answerMs: 60 },
    handle: () => new Promise((resolve) => setTimeout(() => resolve({ status: 200 }), 400)),
  });
  wire.send(post('1'));
  expect(statuses(await wire.until(/HTTP/))).toEqual([200]);
});

test('a client that does not read its answers is disconnected', async () => {
  const body = { text: 'x'.repeat(20_000_000) };
  const { wire } = await connectedReceiver({
    limits,
    handle: () => Promise.resolve({ status: 200, body }),
  });
  wire.socket.pause();
  wire.send(post('1'));
  // A paused client notices the end when it says something more.
  const gone = (): boolean => {
    wire.send('\r\n');
    return wire.socket.destroyed;
  };
  await expect.poll(gone, { timeout: 10_000 }).toBe(true);
});

test('a client over the limit of connections is not accepted, and idle connections are closed', async () => {
  const full: number[] = [];
  const receiver = await start({ limits: { connections: 2 }, onFull: (n: number) => full.push(n) });
  const idle = await openWire(receiver.port);
  idle.send(post('1'));
  await idle.until(/200 OK/);
  const busy = await openWire(receiver.port);
  busy.send('POST / HTTP/1.1\r\n');
  const third = await openWire(receiver.port);
  await third.closed();
  expect(full).toEqual([2]);
  await idle.closed();
  const fourth = await openWire(receiver.port);
  fourth.send(post('1'));
  expect(statuses(await fourth.until(/HTTP/))).toEqual([200]);
});
