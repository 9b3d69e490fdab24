import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Answer } from '../../../src/http/server/send-answer.ts';
import { ensureAuthority } from '../../../src/tls/local-authority.ts';
import { startReceiver } from '../../support/receiver.ts';
import { openWire, post, statuses } from '../../support/wire.ts';

const tls = await ensureAuthority(mkdtempSync(join(tmpdir(), 'leads-pipeline-')), { now: Date.now });

describe('requests sent without waiting for answers', () => {
  test('are handled one at a time, in order: a POST may depend on the one before it', async () => {
    const gates: ((answer: Answer) => void)[] = [];
    const receiver = await startReceiver({ handle: () => new Promise((resolve) => gates.push(resolve)) });
    const wire = await openWire(receiver.port);
    wire.send(post('1') + post('2') + post('3'));
    for (const [i, status] of [201, 202, 203].entries()) {
      await expect.poll(() => gates.length).toBe(i + 1);
      gates[i]?.({ status });
      await wire.until(new RegExp(`HTTP/1.1 ${status} `));
    }
    expect(receiver.deliveries.map(({ body }) => String(body))).toEqual(['1', '2', '3']);
    expect(statuses(wire.text())).toEqual([201, 202, 203]);
  });

  test.each([
    ['plain HTTP', undefined],
    ['TLS', tls],
  ])('are all answered however many there are, over %s', async (_name, pair) => {
    const receiver = await startReceiver({
      tls: pair,
      handle: () =>
        new Promise((resolve) => setImmediate(() => resolve({ status: 200, body: { id: 'l-1' } }))),
    });
    const wire = await openWire(receiver.port, pair?.caPem);
    wire.send(post('{"id":"l-1"}').repeat(5_000));
    await expect.poll(() => statuses(wire.text()).length).toBe(5_000);
    expect(new Set(statuses(wire.text()))).toEqual(new Set([200]));
    expect(receiver.deliveries).toHaveLength(5_000);
    expect(receiver.rejected).toEqual([]);
    wire.send(post('{"id":"l-2"}', ['Connection: close']));
    await wire.closed();
  });

  test.each([
    ['plain HTTP', undefined],
    ['TLS', tls],
  ])('are all answered behind answers as large as ours get, over %s', async (_name, pair) => {
    const body = { text: 'x'.repeat(4_000) };
    const receiver = await startReceiver({ tls: pair, handle: () => Promise.resolve({ status: 200, body }) });
    const wire = await openWire(receiver.port, pair?.caPem);
    wire.send(post('{"id":"l-1"}').repeat(300) + post('x'.repeat(300_000)));
    await expect.poll(() => statuses(wire.text()).length).toBe(301);
    expect(new Set(statuses(wire.text()))).toEqual(new Set([200]));
    expect(receiver.rejected).toEqual([]);
  });

  test('are answered up to the first that cannot be read', async () => {
    const receiver = await startReceiver({
      handle: () => new Promise((resolve) => setTimeout(() => resolve({ status: 200 }), 50)),
    });
    const wire = await openWire(receiver.port);
    wire.send(post('1') + 'no request\r\n\r\n');
    expect(statuses(await wire.closed())).toEqual([200]);
    expect(receiver.rejected).toMatchObject([{ reason: 'malformed_request' }]);
  });

  test('do not time out while the one ahead is handled', async () => {
    const receiver = await startReceiver({
      limits: { requestMs: 100 },
      handle: () => new Promise((resolve) => setTimeout(() => resolve({ status: 200 }), 600)),
    });
    const wire = await openWire(receiver.port);
    wire.send(post('1') + post('2') + 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n12');
    expect(statuses(await wire.closed())).toEqual([200]);
    expect(receiver.rejected).toEqual([]);
  });
});

describe('a request behind an answer that closes the connection is not handled (RFC 9112, section 9.6)', () => {
  test('where the server rejected a request', async () => {
    const receiver = await startReceiver({ limits: { bodyBytes: 10 } });
    const wire = await openWire(receiver.port);
    wire.send(post('x'.repeat(20)) + post('2'));
    expect(statuses(await wire.closed())).toEqual([413]);
    expect(receiver.deliveries).toEqual([]);
    expect(receiver.rejected).toHaveLength(1);
  });

  test('where the client asked for the close, whose answer it still gets', async () => {
    const receiver = await startReceiver({
      handle: () => new Promise((resolve) => setTimeout(() => resolve({ status: 200 }), 50)),
    });
    const wire = await openWire(receiver.port);
    wire.send(post('1', ['Connection: close']) + post('2'));
    expect(statuses(await wire.closed())).toEqual([200]);
    expect(receiver.deliveries).toHaveLength(1);
    expect(receiver.rejected).toEqual([]);
  });

  test('where the client speaks HTTP/1.0', async () => {
    const receiver = await startReceiver({
      handle: () => new Promise((resolve) => setTimeout(() => resolve({ status: 200 }), 50)),
    });
    const wire = await openWire(receiver.port);
    wire.send('POST / HTTP/1.0\r\nContent-Length: 1\r\n\r\n1' + post('2'));
    expect(statuses(await wire.closed())).toEqual([200]);
    expect(receiver.deliveries).toHaveLength(1);
  });

  test('where the server is closing', async () => {
    const gates: ((answer: Answer) => void)[] = [];
    const receiver = await startReceiver({ handle: () => new Promise((resolve) => gates.push(resolve)) });
    const wire = await openWire(receiver.port);
    wire.send(post('1') + post('2') + post('3'));
    await expect.poll(() => gates.length).toBeGreaterThan(0);
    const closed = receiver.close();
    for (const gate of gates) gate({ status: 200 });
    expect(statuses(await wire.closed())).toEqual([200]);
    await closed;
    expect(receiver.deliveries).toHaveLength(1);
  });
});
