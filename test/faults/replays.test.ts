import { createHmac } from 'node:crypto';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import Libsql from 'libsql';
import { expect, it } from 'vitest';
import { openInbox } from '../../src/inbox/open-inbox.ts';
import { FakeClock } from '../support/clock.ts';
import { freshHome } from '../support/run.ts';
import { arrivalOf } from '../inbox/support.ts';
import { type Listener, listen } from '../commands/listen/support.ts';
import { full } from '../support/faults.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

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

/** Resident bytes without what V8 holds for later: that grows with how often it collects, not with the guard. */
function memoryInUse(): number {
  collectGarbage();
  const { rss, heapTotal, heapUsed } = process.memoryUsage();
  return rss - heapTotal + heapUsed;
}

it('promise 5: the guard is bounded', async () => {
  const nonces = full ? 1_000_000 : 20_000;
  const lifetimeMs = 600_000;
  const clock = new FakeClock();
  const place = join(freshHome(), 'inbox.db');
  const inbox = await openInbox({ location: place, clock, nonceLifetimeMs: lifetimeMs });
  await inbox.take([arrivalOf({ id: 'a' }, { nonce: 'warm' })]);
  const arrival = arrivalOf({ id: 'a' });
  let memoryAtTenth = 0;
  let sizeAtHalf = 0;
  for (let i = 0; i < nonces; i += 500) {
    // A tenth of them fit into the time that one is remembered.
    clock.advance((lifetimeMs * 10 * 500) / nonces);
    await inbox.take(Array.from({ length: 500 }, (_, k) => ({ ...arrival, nonce: `nonce-${i + k}` })));
    // The deliveries themselves go, so that the file shows what the guard keeps.
    if (i % (nonces / 10) === 0) await inbox.prune(Number.MAX_SAFE_INTEGER);
    // From a tenth on, as many are forgotten as are added.
    if (i * 10 === nonces) memoryAtTenth = memoryInUse();
    if (i * 2 === nonces) sizeAtHalf = statSync(place).size;
    await turn();
  }
  const growth = (memoryInUse() - memoryAtTenth) / 1e6;
  await inbox.prune(Number.MAX_SAFE_INTEGER);
  const last = `nonce-${nonces - 1}`;
  const [replayed] = await inbox.take([arrivalOf({ id: 'b' }, { nonce: last })]);
  const size = statSync(place).size;
  await inbox.close();
  const database = new Libsql(place);
  const { kept } = database.prepare('SELECT count(*) AS kept FROM nonces').get() as { kept: number };
  database.close();
  console.log(
    `promise 5: ${nonces} nonces: ${kept} kept, memory +${growth.toFixed(0)} MB, ` +
      `file ${(sizeAtHalf / 1e6).toFixed(1)} MB at half time, ${(size / 1e6).toFixed(1)} MB at the end`,
  );
  expect(replayed).toMatchObject({ kind: 'rejected', reason: 'replayed_nonce' });
  expect(growth).toBeLessThan(60);
  expect(kept).toBeLessThan(nonces * 0.15);
  // A small file is still in its log at half time.
  if (full) expect(size).toBeLessThan(sizeAtHalf * 1.5 + 1e6);
});
