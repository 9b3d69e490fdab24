import type { Delivery } from '../../src/webhook/delivery.ts';

/** With one byte of the body, or one character of one of these headers, changed: in the time, in the signature. */
export function* tampered(delivery: Delivery, credentials: readonly string[]): Generator<Delivery> {
  const text = Buffer.from(delivery.body).toString('utf8');
  yield { ...delivery, body: Buffer.from(text.replace('lead_1', 'lead_2')) };
  for (const [i, [name, value]] of delivery.rawHeaders.entries()) {
    if (!credentials.includes(name)) continue;
    const at = Math.floor(value.length * 0.75);
    const other = value[at] === '1' ? '2' : '1';
    const changed = value.slice(0, at) + other + value.slice(at + 1);
    yield { ...delivery, rawHeaders: delivery.rawHeaders.with(i, [name, changed]) };
  }
}
