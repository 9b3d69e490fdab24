import { describe, expect, test } from 'vitest';
import { connectedReceiver, startReceiver } from '../../support/receiver.ts';
import { openWire, post, statuses } from '../../support/wire.ts';

/** What is answered, reported and done with the connection for a request that must not reach the handler. */
async function rejectionOf(
  request: string,
): Promise<{ status: number | undefined; reason: string | undefined }> {
  const { receiver, wire } = await connectedReceiver();
  wire.send(request);
  const text = await wire.closed();
  expect(receiver.deliveries).toEqual([]);
  expect(receiver.rejected).toHaveLength(1);
  const [status, ...more] = statuses(text);
  expect(more).toEqual([]);
  expect(text).toMatch(/\r\nconnection: close\r\n/i);
  expect(JSON.parse(text.slice(text.indexOf('\r\n\r\n')))).toMatchObject({
    error: receiver.rejected[0]?.reason,
    message: expect.any(String) as string,
  });
  expect(receiver.rejected[0]?.status).toBe(status);
  return { status, reason: receiver.rejected[0]?.reason };
}

const head = (...lines: string[]): string => ['POST / HTTP/1.1', ...lines, '', ''].join('\r\n');
const chunk = '5\r\n{"a":\r\n0\r\n\r\n';

describe('a request in a smuggling form is rejected', () => {
  test.each([
    ['both lengths', head('Host: x', 'Content-Length: 5', 'Transfer-Encoding: chunked') + chunk],
    [
      'both lengths, the other way round',
      head('Host: x', 'Transfer-Encoding: chunked', 'Content-Length: 5') + chunk,
    ],
    ['two lengths', head('Host: x', 'Content-Length: 5', 'Content-Length: 6') + '123456'],
    ['two equal lengths', head('Host: x', 'Content-Length: 5', 'Content-Length: 5') + '12345'],
    ['a list of lengths', head('Host: x', 'Content-Length: 5, 5') + '12345'],
    ['a signed length', head('Host: x', 'Content-Length: +5') + '12345'],
    ['a hexadecimal length', head('Host: x', 'Content-Length: 0x5') + '12345'],
    ['an endless length', head('Host: x', `Content-Length: ${'9'.repeat(40)}`)],
    ['a chunked that is not last', head('Host: x', 'Transfer-Encoding: chunked, identity') + chunk],
    ['another coding before chunked', head('Host: x', 'Transfer-Encoding: gzip, chunked') + chunk],
    ['chunked twice', head('Host: x', 'Transfer-Encoding: chunked', 'Transfer-Encoding: chunked') + chunk],
    ['a coding that only looks chunked', head('Host: x', 'Transfer-Encoding: xchunked') + chunk],
    ['a space before the colon', head('Host: x', 'Transfer-Encoding : chunked') + chunk],
    ['a folded header', head('Host: x', 'X-A: 1', ' Transfer-Encoding: chunked', 'Content-Length: 0')],
    ['a bare line feed', 'POST / HTTP/1.1\nHost: x\nContent-Length: 0\n\n'],
    ['a zero byte in a header', head('Host: x', 'X-A: a\0b', 'Content-Length: 0')],
    [
      'a chunk size that is none',
      head('Host: x', 'Transfer-Encoding: chunked') + '0x5\r\n12345\r\n0\r\n\r\n',
    ],
    ['a chunk without its end', head('Host: x', 'Transfer-Encoding: chunked') + '5\r\n123456\r\n0\r\n\r\n'],
    ['two hosts', head('Host: x', 'Host: x', 'Content-Length: 0')],
    ['no host', head('Content-Length: 0')],
    ['another protocol', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['no protocol at all', '\x01\x02\x03\x04\r\n\r\n'],
  ])('%s', async (_name, request) => {
    expect(await rejectionOf(request)).toEqual({ status: 400, reason: 'malformed_request' });
  });
});

test('TLS on a plain port is reported as such', async () => {
  const { receiver, wire } = await connectedReceiver();
  wire.send('\x16\x03\x01\x00\x05\x01\x00\x00\x01\x00');
  await wire.closed();
  expect(receiver.rejected[0]?.detail).toBe('TLS on a plain HTTP port');
});

describe('headers', () => {
  test('a hundred are all accepted', async () => {
    const { receiver, wire } = await connectedReceiver();
    wire.send(
      post(
        '1',
        Array.from({ length: 98 }, (_, i) => `X-${i}: ${i}`),
      ),
    );
    await wire.until(/200 OK/);
    expect(receiver.deliveries[0]?.rawHeaders).toHaveLength(100);
  });

  test.each([101, 1_100])('%i are rejected as too many', async (count) => {
    const headers = Array.from({ length: count - 2 }, (_, i) => `X-${i}: `);
    expect(await rejectionOf(post('1', headers))).toEqual({ status: 431, reason: 'too_many_headers' });
  });

  test('more than 16 KiB are rejected as too large', async () => {
    const request = post('1', [`X-Long: ${'x'.repeat(17_000)}`]);
    expect(await rejectionOf(request)).toEqual({ status: 431, reason: 'too_many_headers' });
  });
});

describe('a body over the limit', () => {
  const tooLarge = { status: 413, reason: 'too_large' };

  test('is rejected by its declared length, before it is sent', async () => {
    expect(await rejectionOf(head('Host: x', 'Content-Length: 1048577'))).toEqual(tooLarge);
  });

  test('is rejected when its chunks exceed the limit', async () => {
    const chunks = `10000\r\n${'x'.repeat(0x10000)}\r\n`.repeat(17);
    expect(await rejectionOf(head('Host: x', 'Transfer-Encoding: chunked') + chunks)).toEqual(tooLarge);
  });

  test('is rejected instead of requested with 100 Continue', async () => {
    const request = head('Host: x', 'Content-Length: 1048577', 'Expect: 100-continue');
    expect(await rejectionOf(request)).toEqual(tooLarge);
  });

  test('is answered although the client continues to send', async () => {
    const { wire } = await connectedReceiver({ limits: { bodyBytes: 1_000 } });
    wire.send(head('Host: x', 'Content-Length: 4000000') + 'x'.repeat(4_000_000));
    expect(statuses(await wire.closed())).toEqual([413]);
  });

  test('is accepted at exactly the limit', async () => {
    const { wire } = await connectedReceiver({ limits: { bodyBytes: 1_000 } });
    wire.send(post('x'.repeat(1_000)));
    expect(statuses(await wire.until(/HTTP/))).toEqual([200]);
  });
});

test('an unknown expectation is rejected before the body', async () => {
  const request = head('Host: x', 'Content-Length: 5', 'Expect: coffee');
  expect(await rejectionOf(request)).toEqual({ status: 417, reason: 'failed_expectation' });
});

test('a CONNECT request is rejected', async () => {
  const request = 'CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n';
  expect(await rejectionOf(request)).toEqual({ status: 405, reason: 'wrong_method' });
});

test('a CONNECT request of a client that has disconnected is rejected', async () => {
  const receiver = await startReceiver();
  for (let i = 1; i <= 20; i += 1) {
    const wire = await openWire(receiver.port);
    wire.send('CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n');
    wire.socket.resetAndDestroy();
  }
  const wire = await openWire(receiver.port);
  wire.send(post('1'));
  expect(statuses(await wire.until(/HTTP/))).toEqual([200]);
});

test('a request for an upgrade is handled as HTTP/1.1', async () => {
  const { wire } = await connectedReceiver();
  wire.send(post('1', ['Connection: Upgrade', 'Upgrade: websocket']));
  expect(statuses(await wire.until(/HTTP/))).toEqual([200]);
});
