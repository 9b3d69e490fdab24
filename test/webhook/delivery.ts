import type { Delivery } from '../../src/webhook/delivery.ts';
import type { Outgoing } from '../../src/webhook/scheme.ts';

export const sampleBody = Buffer.from(
  '{"id":"lead_1","category":"solar","contact":{"name":"Ada","email":"ada@example.com","phone":"+44 20"},' +
    '"metadata":{"source":"facebook"},"createdAt":"2026-01-15T12:00:00Z"}',
);

export type Headers = readonly (readonly [name: string, value: string])[];

export const outgoing = (body: Uint8Array = sampleBody): Outgoing => ({
  method: 'POST',
  url: 'https://hooks.example.com/leads?source=a%20b',
  body,
  id: 'msg_2KWPBgLlAfxdpx2AI54pPJ85f4W',
});

/** What arrives when `message` is sent with these headers. */
export function delivered(headers: Headers, message: Outgoing = outgoing()): Delivery {
  const { pathname, search } = new URL(message.url);
  return {
    method: message.method,
    path: pathname + search,
    url: message.url,
    rawHeaders: [['Host', 'hooks.example.com'], ['Content-Type', 'application/json'], ...headers],
    body: message.body,
    remote: '127.0.0.1',
    receivedAt: 0,
  };
}
