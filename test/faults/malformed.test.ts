import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Listening, startListen } from '../support/listening.ts';
import { openWire, post, statuses } from '../support/wire.ts';
import { corpus } from './malformed.ts';
import { anyRequest } from './requests.ts';
import { full } from '../support/faults.ts';

/** Promise 8: no request can crash it, and none is answered 500. */
const fuzzed = full ? 100_000 : 2_000;
const workers = 20;

const outcomes: Record<string, number> = {};
let plain: Listening;
let secure: Listening;

beforeAll(async () => {
  [plain, secure] = await Promise.all([
    startListen(['--token', 't', '--http', '--inbox', ':memory:']),
    startListen(['--token', 't', '--inbox', ':memory:']),
  ]);
});

afterAll(async () => {
  const codes = [await plain.stop(), await secure.stop()];
  const told = Object.entries(outcomes).map(([status, count]) => `${status} × ${count}`);
  console.log(`promise 8: ${told.sort().join(', ')}; exit codes ${codes.join(', ')}`);
  expect(codes).toEqual([0, 0]);
  expect(plain.stderr() + secure.stderr()).not.toMatch(/a bug in leads|a delivery failed|^\s+at /m);
});

/** Sends bytes and gives the answers; a request that waits for more is given up after a moment. */
async function answersTo(
  target: Listening,
  bytes: string | Uint8Array,
  patienceMs: number,
): Promise<number[]> {
  const wire = await openWire(target.port, target.ca);
  wire.send(bytes);
  await wire.until(/[^]/, patienceMs).catch(() => undefined);
  wire.socket.destroy();
  const found = statuses(wire.text());
  for (const status of found) outcomes[status] = (outcomes[status] ?? 0) + 1;
  return found;
}

async function isHealthy(target: Listening): Promise<boolean> {
  const lead = `{"id":"healthy-${String(Math.random())}"}`;
  const wire = await openWire(target.port, target.ca);
  wire.send(post(lead, ['x-webhook-token: t', 'Content-Type: application/json']));
  const text = await wire.until(/HTTP\/1\.1 \d{3}/);
  wire.socket.destroy();
  return statuses(text)[0] === 200;
}

describe('the malformed corpus', () => {
  test.each(corpus.map((one) => [one.name, one] as const))('%s', async (_name, { bytes, expected }) => {
    for (const target of [plain, secure]) {
      const found = await answersTo(target, bytes, 2_000);
      expect(expected).toContain(found[0] ?? 'closed');
      expect(await isHealthy(target)).toBe(true);
    }
  });
});

test(`${fuzzed} fuzzed requests`, { timeout: 1_800_000 }, async () => {
  const allowed = [100, 200, 400, 401, 404, 405, 408, 413, 415, 417, 431];
  const property = fc.asyncProperty(anyRequest, fc.nat(19), async (bytes, at) => {
    // One in twenty speaks to the TLS port, half of those without TLS.
    const target = at === 0 ? secure : at === 1 ? { ...secure, ca: undefined } : plain;
    const found = await answersTo(target, bytes, 30);
    for (const status of found) expect(allowed).toContain(status);
  });
  const each = { numRuns: fuzzed / workers, endOnFailure: true };
  const seed = Date.now();
  await Promise.all(
    Array.from({ length: workers }, (_, i) => fc.assert(property, { ...each, seed: seed + i })),
  );
  expect([await isHealthy(plain), await isHealthy(secure)]).toEqual([true, true]);
  expect(outcomes[500] ?? 0).toBe(0);
});
