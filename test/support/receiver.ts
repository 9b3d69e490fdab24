import { onTestFinished } from 'vitest';
import type {
  Answer,
  FailedHandshake,
  HttpServer,
  HttpServerOptions,
} from '../../src/http/server/server-options.ts';
import { openHttpsServer } from '../../src/http/server/https-server.ts';
import type { Rejection } from '../../src/webhook/delivery-answer.ts';
import type { Delivery } from '../../src/webhook/delivery.ts';
import { openWire } from './wire.ts';

export interface TestReceiver extends HttpServer {
  readonly deliveries: Delivery[];
  /** Each rejection with the part of its request that was received. */
  readonly rejected: (Rejection & Delivery)[];
  readonly handshakes: FailedHandshake[];
  readonly errors: unknown[];
}

const accepted: Answer = { status: 200, body: { status: 'accepted', id: 'l-1' } };

/** A plain receiver on a free port that accepts everything and writes down what happened. */
export async function startReceiver(options: Partial<HttpServerOptions> = {}): Promise<TestReceiver> {
  const deliveries: Delivery[] = [];
  const rejected: TestReceiver['rejected'] = [];
  const handshakes: FailedHandshake[] = [];
  const errors: unknown[] = [];
  const receiver = await openHttpsServer({
    host: '127.0.0.1',
    port: 0,
    tls: undefined,
    clock: { now: () => 1_768_478_400_000 },
    onError: (error) => errors.push(error),
    onRejected: (rejection, received) => rejected.push({ ...received, ...rejection }),
    onFailedHandshake: (one) => handshakes.push(one),
    ...options,
    handle: (delivery) => {
      deliveries.push(delivery);
      return options.handle?.(delivery) ?? Promise.resolve(accepted);
    },
  });
  onTestFinished(() => receiver.close(0));
  return { ...receiver, deliveries, rejected, handshakes, errors };
}

/** The same, and a connection to it. */
export async function connectedReceiver(options: Partial<HttpServerOptions> = {}) {
  const receiver = await startReceiver(options);
  return { receiver, wire: await openWire(receiver.port) };
}
