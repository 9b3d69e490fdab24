import { createHmac } from 'node:crypto';
import { join } from 'node:path';
import Libsql from 'libsql';
import { expect, it } from 'vitest';
import { openInbox } from '../../src/inbox/open-inbox.ts';
import { FakeClock } from '../support/clock.ts';
import { freshHome } from '../support/run.ts';
import { arrivalOf } from '../inbox/support.ts';
import { type Listener, listen } from '../commands/listen/support.ts';

const secret = 'a-secret-of-the-tests';

const scheme = [
  ...['--secret', secret, '--scheme'],
  JSON.stringify({
    signatureHeader: 'x-signature',
    signedContent: '{timestamp}.{nonce}.{body}',
    timestampHeader: 'x-time',
    nonceHeader: 'x-nonce',
    tolerance: '5m',
  }),
];

function signed(body: string, nonce: string, ms: number): Record<string, string> {
  const time = String(Math.floor(ms / 1000));
  const signature = createHmac('sha256', secret).update(`${time}.${nonce}.${body}`).digest('hex');
  return { 'x-signature': signature, 'x-time': time, 'x-nonce': nonce };
}

async function tell(listener: Listener, body: string, headers: Record<string, string>): Promise<string> {
  const { status, body: answer } = await listener.post(body, headers);
  return `${status} ${String(answer['status'] ?? answer['error'])}`;
}

it('promise 5: replays are refused and retries are not, before and after a restart', async () => {
  const clock = new FakeClock();
  const now = clock.now();
  const a = '{"id":"a"}';
  const b = '{"id":"b"}';
  const first = await listen(scheme, { clock });
  const told = [
    await tell(first, a, signed(a, 'n1', now)),
    await tell(first, a, signed(a, 'n1', now)),
    await tell(first, b, signed(b, 'n1', now)),
    await tell(first, b, signed(b, 'n2', now - 301_000)),
    await tell(first, b, signed(b, 'n2', now + 301_000)),
    await tell(first, b, signed(a, 'n2', now)),
  ];
  await first.stop();
  const second = await listen(scheme, { clock, home: first.home });
  clock.advance(60_000);
  told.push(
    await tell(second, b, signed(b, 'n1', now)),
    await tell(second, a, signed(a, 'n1', now)),
    await tell(second, b, signed(b, 'n3', now)),
  );
  await second.stop();
  console.log(`promise 5: ${told.join(', ')}`);
  expect(told).toEqual([
    '200 accepted',
    '200 duplicate',
    '401 replayed_nonce',
    '401 stale_timestamp',
    '401 future_timestamp',
    '401 wrong_credential',
    '401 replayed_nonce',
    '200 duplicate',
    '200 accepted',
  ]);
});

it('promise 5: a nonce that is good no longer is removed', async () => {
  const lifetimeMs = 600_000;
  const clock = new FakeClock();
  const place = join(freshHome(), 'inbox.db');
  const inbox = await openInbox({ location: place, clock, nonceLifetimeMs: lifetimeMs });
  const arrival = arrivalOf({ id: 'a' });
  // A tenth of them fit into the time that one is remembered.
  for (let batch = 0; batch < 100; batch += 1) {
    clock.advance(lifetimeMs / 10);
    await inbox.take(Array.from({ length: 50 }, (_, k) => ({ ...arrival, nonce: `nonce-${batch}-${k}` })));
  }
  await inbox.close();
  const database = new Libsql(place);
  const { kept } = database.prepare('SELECT count(*) AS kept FROM nonces').get() as { kept: number };
  database.close();
  console.log(`promise 5: ${kept} of 5000 nonces are kept`);
  expect(kept).toBeLessThan(5000 * 0.15);
});
