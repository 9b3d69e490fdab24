import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import type { Answer } from '../../../src/http/server/server-options.ts';
import { ensureAuthority } from '../../../src/tls/local-authority.ts';
import { connectedReceiver, startReceiver } from '../../support/receiver.ts';
import { openWire, post, statuses } from '../../support/wire.ts';

const tls = await ensureAuthority(mkdtempSync(join(tmpdir(), 'leads-pipeline-')), { now: Date.now });

describe('a request that comes before the answer to the one ahead', () => {
  test.each([
    ['plain HTTP', undefined],
    ['TLS', tls],
  ])('is neither read nor handled, and the answer ahead is the last, over %s', async (_name, pair) => {
    const gates: ((answer: Answer) => void)[] = [];
    const receiver = await startReceiver({
      tls: pair,
      handle: () => new Promise((resolve) => gates.push(resolve)),
    });
    const wire = await openWire(receiver.port, pair?.caPem);
    const write = promisify(wire.socket.write.bind(wire.socket) as (text: string, done: () => void) => void);
    const written = write(post('1') + post('x'.repeat(20_000_000))).then(() => 'read');
    await expect.poll(() => gates.length).toBe(1);
    expect(await Promise.race([written, setTimeout(1_000, 'waits')])).toBe('waits');
    gates[0]?.({ status: 201 });
    expect(await wire.closed()).toMatch(/^HTTP\/1.1 201 [^]*\r\nconnection: close\r\n/);
    expect(statuses(wire.text())).toEqual([201]);
    expect(receiver.deliveries).toHaveLength(1);
    expect(receiver.rejected).toEqual([]);
  });

  test('does not reset the client, which may not have read the answer yet', async () => {
    const { wire } = await connectedReceiver({ handle: () => setTimeout(50, { status: 200 }) });
    const errors: Error[] = [];
    wire.socket.on('error', (error) => errors.push(error));
    wire.send(post('1') + post('x'.repeat(7_000_000)));
    expect(statuses(await wire.closed())).toEqual([200]);
    expect(errors).toEqual([]);
  });

  test('is reported where it cannot be read', async () => {
    const { receiver, wire } = await connectedReceiver({
      handle: () => setTimeout(50, { status: 200 }),
    });
    wire.send(post('1') + 'no request\r\n\r\n');
    expect(statuses(await wire.closed())).toEqual([200]);
    expect(receiver.rejected).toMatchObject([{ reason: 'malformed_request' }]);
  });

  test('does not time out while the one ahead is handled', async () => {
    const { receiver, wire } = await connectedReceiver({
      limits: { requestMs: 100 },
      handle: () => setTimeout(600, { status: 200 }),
    });
    wire.send(post('1') + post('2') + 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n12');
    expect(statuses(await wire.closed())).toEqual([200]);
    expect(receiver.rejected).toEqual([]);
  });
});

describe('a request behind an answer that closes the connection is not handled (RFC 9112, section 9.6)', () => {
  test('where the server rejected a request', async () => {
    const { receiver, wire } = await connectedReceiver({ limits: { bodyBytes: 10 } });
    wire.send(post('x'.repeat(20)) + post('2'));
    expect(statuses(await wire.closed())).toEqual([413]);
    expect(receiver.deliveries).toEqual([]);
    expect(receiver.rejected).toHaveLength(1);
  });

  test('where the client asked for the close, whose answer it still gets', async () => {
    const { receiver, wire } = await connectedReceiver({
      handle: () => setTimeout(50, { status: 200 }),
    });
    wire.send(post('1', ['Connection: close']) + post('2'));
    expect(statuses(await wire.closed())).toEqual([200]);
    expect(receiver.deliveries).toHaveLength(1);
    expect(receiver.rejected).toEqual([]);
  });

  test('where the client speaks HTTP/1.0', async () => {
    const { receiver, wire } = await connectedReceiver({
      handle: () => setTimeout(50, { status: 200 }),
    });
    wire.send('POST / HTTP/1.0\r\nContent-Length: 1\r\n\r\n1' + post('2'));
    expect(statuses(await wire.closed())).toEqual([200]);
    expect(receiver.deliveries).toHaveLength(1);
  });

  test('where the server is closing', async () => {
    const gates: ((answer: Answer) => void)[] = [];
    const { receiver, wire } = await connectedReceiver({
      handle: () => new Promise((resolve) => gates.push(resolve)),
    });
    wire.send(post('1') + post('2') + post('3'));
    await expect.poll(() => gates.length).toBeGreaterThan(0);
    const closed = receiver.close();
    for (const gate of gates) gate({ status: 200 });
    expect(statuses(await wire.closed())).toEqual([200]);
    await closed;
    expect(receiver.deliveries).toHaveLength(1);
  });
});
