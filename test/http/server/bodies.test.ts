import { describe, expect, test } from 'vitest';
import type { Answer } from '../../../src/http/server/server-options.ts';
import { rejection } from '../../../src/webhook/delivery-answer.ts';
import { connectedReceiver, startReceiver } from '../../support/receiver.ts';
import { openWire, post, statuses, type Wire } from '../../support/wire.ts';

const head = (...lines: string[]): string => ['POST / HTTP/1.1', 'Host: x', ...lines, '', ''].join('\r\n');

/** A client that sends so much of a larger body, and then no more. */
async function stalled(port: number, size: number): Promise<Wire> {
  const wire = await openWire(port);
  wire.send(head('Content-Length: 1000000') + 'x'.repeat(size));
  return wire;
}

describe('the memory of all bodies together is limited', () => {
  test('and where it is used up, the largest incomplete body has to go, not the small one that comes', async () => {
    const receiver = await startReceiver({ limits: { bufferedBytes: 100_000 } });
    const small = await stalled(receiver.port, 20_000);
    const large = await stalled(receiver.port, 60_000);
    await expect.poll(() => receiver.rejected).toEqual([]);
    const third = await stalled(receiver.port, 30_000);
    const text = await large.closed();
    expect(statuses(text)).toEqual([503]);
    expect(text).toMatch(/\r\nretry-after: \d+\r\n/i);
    expect(receiver.rejected).toMatchObject([{ reason: 'overloaded', status: 503 }]);
    // Of a body that is given up no more is copied than is kept.
    expect(receiver.rejected[0]?.body).toEqual(Buffer.alloc(16_384, 'x'));
    const genuine = await openWire(receiver.port);
    genuine.send(post('{}'));
    expect(statuses(await genuine.until(/HTTP/))).toEqual([200]);
    expect([small.text(), third.text()]).toEqual(['', '']);
  });

  test('and counts a body until its request is answered', async () => {
    const gates: ((answer: Answer) => void)[] = [];
    const receiver = await startReceiver({
      limits: { bufferedBytes: 20_000 },
      handle: () => new Promise((resolve) => gates.push(resolve)),
    });
    const first = await openWire(receiver.port);
    first.send(post('x'.repeat(15_000)));
    await expect.poll(() => gates.length).toBe(1);
    const second = await openWire(receiver.port);
    second.send(post('x'.repeat(15_000)));
    expect(statuses(await second.closed())).toEqual([503]);
    gates[0]?.({ status: 200 });
    await first.until(/200 OK/);
    const third = await openWire(receiver.port);
    third.send(post('x'.repeat(15_000)));
    await expect.poll(() => gates.length).toBe(2);
    gates[1]?.({ status: 200 });
    await third.until(/200 OK/);
  });

  test('and counts what pieces of one byte cost', async () => {
    const { wire } = await connectedReceiver({ limits: { bufferedBytes: 100_000 } });
    wire.send(head('Transfer-Encoding: chunked') + '1\r\nx\r\n'.repeat(1_000));
    expect(statuses(await wire.closed())).toEqual([503]);
  });
});

describe('what is wrong with a request whatever its body', () => {
  const wrong = rejection('wrong_credential', 'the token is wrong');
  const checkHead = () => wrong;
  const started = () => startReceiver({ checkHead });

  test.each([
    ['before a large body is received', head('Content-Length: 1000000')],
    ['before 100 Continue', head('Content-Length: 10', 'Expect: 100-continue')],
    [
      'when a body in chunks gets large',
      `${head('Transfer-Encoding: chunked')}4e20\r\n${'x'.repeat(20_000)}`,
    ],
  ])('is answered %s', async (_name, request) => {
    const receiver = await started();
    const wire = await openWire(receiver.port);
    wire.send(request);
    expect(statuses(await wire.closed())).toEqual([401]);
    expect(receiver.deliveries).toEqual([]);
    expect(receiver.rejected).toMatchObject([{ reason: 'wrong_credential' }]);
    expect(receiver.rejected[0]?.body.length).toBeLessThan(40_000);
  });

  test('is not asked of a small body, which is kept for those who look into it', async () => {
    const receiver = await started();
    const wire = await openWire(receiver.port);
    wire.send(post('{}'));
    expect(statuses(await wire.until(/HTTP/))).toEqual([200]);
  });
});
