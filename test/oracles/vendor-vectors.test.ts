// Runs the vectors of test/conformance through the vendors' own libraries, and records in deviations.json where these say
// something else; fails where the record differs. with `-u` it records them.
import { createPublicKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { afterAll, expect, test, vi } from 'vitest';
import type { Vector, VectorFile } from '../conformance/vector.ts';
import { released, vendorLibraries } from './vendor-libraries.ts';

const { vectors } = JSON.parse(
  readFileSync(new URL('../conformance/vectors.json', import.meta.url), 'utf8'),
) as VectorFile;

/** Discord's library takes the bytes of the key in hex. */
const keyFor = (key: string): string =>
  key.startsWith('-----BEGIN ')
    ? Buffer.from(createPublicKey(key).export({ format: 'jwk' }).x ?? '', 'base64url').toString('hex')
    : key;

afterAll(() => {
  vi.useRealTimers();
});

async function accepted(name: string, { request, keys, now }: Vector): Promise<boolean> {
  vi.useFakeTimers({ toFake: ['Date'], now: now * 1000 });
  const { method, url, headers, body } = request;
  const { pathname, search } = new URL(url);
  const bytes = Buffer.from(body, 'base64');
  const delivery = { method, url, rawHeaders: headers, body: bytes, remote: '127.0.0.1', receivedAt: 0 };
  for (const key of keys) {
    const answer = vendorLibraries[name]?.accepts({ ...delivery, path: pathname + search }, keyFor(key));
    // A library that throws refuses.
    if (await answer?.catch(() => false)) return true;
  }
  return false;
}

const deviations: Record<string, Record<string, string>> = {};

test.each(Object.entries(vendorLibraries))(
  '%s: the library is asked about every vector',
  async (name, library) => {
    const own = vectors.filter(({ scheme }) => scheme === name);
    expect(own.length).toBeGreaterThan(10);
    const found: Record<string, string> = {};
    for (const vector of own) {
      const isAccepted = await accepted(name, vector);
      const what = vector.id.slice(name.length + 2);
      if (isAccepted !== vector.genuine) found[what] = isAccepted ? 'accepted' : 'refused';
    }
    deviations[released(library)] = found;
  },
);

test('the deviations are those that are recorded', async () => {
  await expect(`${JSON.stringify(deviations, null, 2)}\n`).toMatchFileSnapshot(
    '../conformance/deviations.json',
  );
});
