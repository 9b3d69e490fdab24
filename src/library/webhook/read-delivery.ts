import { systemClock } from '../../time/clock.ts';
import type { Delivery } from '../../webhook/delivery.ts';
import type { Rejection } from '../../webhook/rejection.ts';
import { defaultBodyLimits } from './request/body-limits.ts';
import { bodySource } from './request/body-source.ts';
import { deliveryHead } from './request/delivery-head.ts';
import { type ReadBody, readBody } from './request/read-body.ts';
import type { WebhookRequest } from './request/request-types.ts';

/** What a client may cost. */
export interface RequestLimits {
  /** In bytes. Default 1 MiB. */
  readonly maxBodyBytes?: number | undefined;
  /** Until the body is complete, in milliseconds. Default 15 s. */
  readonly bodyTimeoutMs?: number | undefined;
}

/** A stream can be read once: what was read of a request is kept as long as the request itself. */
const read = new WeakMap<object, Promise<ReadBody>>();

/**
 * The whole request. `now` in milliseconds since the epoch. Rejects with a `ParsedBodyError` where the body was read by
 * somebody else, and with a `ConfigError` for what is no request.
 */
export async function readDelivery(
  request: WebhookRequest,
  { maxBodyBytes, bodyTimeoutMs }: RequestLimits,
  now: number,
): Promise<Delivery | Rejection> {
  const head = deliveryHead(request, now);
  let reading = read.get(request);
  if (reading === undefined) {
    const source = await bodySource(request);
    reading = readBody(source, {
      maxBytes: maxBodyBytes ?? defaultBodyLimits.maxBytes,
      timeoutMs: bodyTimeoutMs ?? defaultBodyLimits.timeoutMs,
      clock: systemClock,
    });
    if (typeof source === 'function') read.set(request, reading);
  }
  const body = await reading;
  return body.kind === 'body' ? { ...head, body: body.bytes } : body;
}
