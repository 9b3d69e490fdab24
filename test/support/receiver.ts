import { onTestFinished } from 'vitest';
import type { Answer } from '../../src/http/answer.ts';
import type { FailedHandshake, Receiver, ReceiverOptions, RefusedRequest } from '../../src/http/receiver.ts';
import { openReceiver } from '../../src/http/server.ts';
import type { Delivery } from '../../src/webhook/delivery.ts';

export interface TestReceiver extends Receiver {
  readonly deliveries: Delivery[];
  readonly refused: RefusedRequest[];
  readonly handshakes: FailedHandshake[];
  readonly errors: unknown[];
}

const accepted: Answer = { status: 200, body: { status: 'accepted', id: 'l-1' } };

/** A plain receiver on a free port that accepts everything and writes down what happened. */
export async function startReceiver(options: Partial<ReceiverOptions> = {}): Promise<TestReceiver> {
  const deliveries: Delivery[] = [];
  const refused: RefusedRequest[] = [];
  const handshakes: FailedHandshake[] = [];
  const errors: unknown[] = [];
  const receiver = await openReceiver({
    host: '127.0.0.1',
    port: 0,
    tls: undefined,
    clock: { now: () => 1_768_478_400_000 },
    onError: (error) => errors.push(error),
    onRefused: (one) => refused.push(one),
    onHandshake: (one) => handshakes.push(one),
    ...options,
    handle: (delivery) => {
      deliveries.push(delivery);
      return options.handle?.(delivery) ?? Promise.resolve(accepted);
    },
  });
  onTestFinished(() => receiver.close(0));
  return { ...receiver, deliveries, refused, handshakes, errors };
}
