import { createServer } from 'node:net';
import { describe, expect, test } from 'vitest';
import { ConfigError, describe as describeError, UsageError } from '../../../src/errors.ts';
import type { Answer } from '../../../src/http/server/server-options.ts';
import { openPort } from '../../support/open-port.ts';
import { connectedReceiver, startReceiver } from '../../support/receiver.ts';
import { openWire, post, statuses } from '../../support/wire.ts';

describe('a delivery', () => {
  test('keeps the order, case and repetitions of its headers, its path and its bytes', async () => {
    const { receiver, wire } = await connectedReceiver();
    wire.send(post('{"n":"\xff\x1b"}', ['X-B: 2', 'x-a: 1', 'X-b: 3', '__proto__: x'], '/hook?a=%20b&a=c'));
    await wire.until(/accepted/);
    expect(receiver.deliveries).toEqual([
      {
        method: 'POST',
        path: '/hook?a=%20b&a=c',
        url: 'http://localhost/hook?a=%20b&a=c',
        rawHeaders: [
          ['Host', 'localhost'],
          ['X-B', '2'],
          ['x-a', '1'],
          ['X-b', '3'],
          ['__proto__', 'x'],
          ['Content-Length', '10'],
        ],
        body: Buffer.from('{"n":"\xff\x1b"}', 'latin1'),
        remote: '127.0.0.1',
        receivedAt: 1_768_478_400_000,
      },
    ]);
  });

  test('is assembled from chunks', async () => {
    const { receiver, wire } = await connectedReceiver();
    wire.send('POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n{"a\r\n');
    wire.send('4;x=y\r\n":1}\r\n0\r\n\r\n');
    await wire.until(/accepted/);
    expect(Buffer.from(receiver.deliveries[0]?.body ?? []).toString()).toBe('{"a":1}');
  });

  test('that is not complete is not handled, and is reported', async () => {
    const { receiver, wire } = await connectedReceiver();
    wire.send('POST /hook HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n12345');
    wire.socket.end();
    await wire.closed();
    await expect
      .poll(() => receiver.rejected)
      .toMatchObject([
        {
          reason: 'incomplete_body',
          path: '/hook',
          detail: 'the connection ended after 5 of 10 bytes of the body',
        },
      ]);
    expect(receiver.deliveries).toEqual([]);
  });

  test('has the host of its target when the target is absolute', async () => {
    const { receiver, wire } = await connectedReceiver();
    wire.send('POST http://example.com/hook HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n');
    await wire.until(/accepted/);
    expect(receiver.deliveries[0]?.url).toBe('http://example.com/hook');
  });
});

describe('an answer', () => {
  test('has status, headers and a JSON body, and the connection stays open', async () => {
    const { wire } = await connectedReceiver({
      handle: () => Promise.resolve({ status: 405, body: { error: 'é' }, headers: { allow: 'POST' } }),
    });
    wire.send(post('{}'));
    const first = await wire.until(/\r\n\r\n\{.*\}/);
    expect(first).toMatch(/^HTTP\/1\.1 405 Method Not Allowed\r\n/);
    expect(first).toContain('content-type: application/json\r\n');
    expect(first).toContain('content-length: 14\r\n');
    expect(first).toContain('allow: POST\r\n');
    wire.send(post('{}'));
    expect(statuses(await wire.until(/405[^]*405/))).toEqual([405, 405]);
  });

  test('is 503 when the handler fails, and the server continues', async () => {
    const { receiver, wire } = await connectedReceiver({
      handle: ({ path }) => {
        if (path === '/throw') throw new Error('thrown');
        return path === '/reject' ? Promise.reject(new Error('rejected')) : Promise.resolve({ status: 200 });
      },
    });
    wire.send(post('1', [], '/throw'));
    await wire.until(/503/);
    wire.send(post('2', [], '/reject'));
    await wire.until(/503[^]*503/);
    wire.send(post('3'));
    expect(statuses(await wire.until(/200 OK/))).toEqual([503, 503, 200]);
    expect(receiver.errors.map(String)).toEqual(['Error: thrown', 'Error: rejected']);
  });

  test('that cannot be written closes the connection and is reported', async () => {
    const { receiver, wire } = await connectedReceiver({
      handle: () => Promise.resolve({ status: 200, headers: { 'x-bad': 'a\nb' } }),
    });
    wire.send(post('1'));
    expect(await wire.closed()).toBe('');
    expect(receiver.errors).toHaveLength(1);
  });
});

describe('closing', () => {
  test('closes idle connections at once and the others with their answer', async () => {
    const gates: ((answer: Answer) => void)[] = [];
    const receiver = await startReceiver({
      handle: ({ path }) =>
        path === '/wait' ? new Promise((resolve) => gates.push(resolve)) : Promise.resolve({ status: 200 }),
    });
    const silent = await openWire(receiver.port);
    const idle = await openWire(receiver.port);
    const busy = await openWire(receiver.port);
    idle.send(post('1'));
    await idle.until(/200 OK/);
    busy.send(post('1', [], '/wait'));
    await expect.poll(() => gates.length).toBe(1);
    const closed = receiver.close();
    await Promise.all([silent.closed(), idle.closed()]);
    await expect(openWire(receiver.port)).rejects.toThrow('ECONNREFUSED');
    gates[0]?.({ status: 200 });
    expect(await busy.closed()).toMatch(/200 OK[^]*connection: close/);
    await closed;
  });

  test('waits no longer than its limit', async () => {
    const { receiver, wire } = await connectedReceiver({ handle: () => new Promise(() => undefined) });
    wire.send(post('1'));
    await expect.poll(() => receiver.deliveries.length).toBe(1);
    await receiver.close(20);
    expect(await wire.closed()).toBe('');
  });

  test('receives the rest of a body before it closes', async () => {
    const { receiver, wire } = await connectedReceiver();
    wire.send('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\n');
    await wire.until(/100 Continue/);
    const closed = receiver.close();
    wire.send('1234');
    expect(await wire.closed()).toMatch(/200 OK/);
    await closed;
    expect(receiver.deliveries).toHaveLength(1);
  });
});

describe('an address that cannot be used', () => {
  test('is a configuration error when the port is in use', async () => {
    const port = await openPort(createServer());
    const error = await startReceiver({ port }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ConfigError);
    expect(describeError(error)).toEqual({
      message: `127.0.0.1:${port} is in use by another program`,
      hint: 'give another --port, or --port 0 for any that is free',
    });
  });

  test('is a usage error when it is not an address of this machine', async () => {
    await expect(startReceiver({ host: '192.0.2.1' })).rejects.toThrow(UsageError);
  });
});
