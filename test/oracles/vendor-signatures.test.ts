// Records what the vendors' libraries sign and accept in test/webhook/presets/recorded-signatures.json, which the tests
// without these libraries use; fails where the record differs. with `-u` it records them.
import { afterAll, beforeEach, expect, test, vi } from 'vitest';
import { schemeNamed } from '../../src/webhook/scheme-registry.ts';
import { delivered, outgoing } from '../webhook/delivery.ts';
import { keyOf } from '../webhook/schemes/every.ts';
import { tampered } from '../webhook/tampered.ts';
import type { RecordedSignatures } from '../webhook/presets/recorded-signatures.test.ts';
import { released, vendorLibraries } from './vendor-libraries.ts';

const seconds = Date.UTC(2026, 0, 15, 12) / 1000;
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'], now: seconds * 1000 });
});
afterAll(() => {
  vi.useRealTimers();
});

const bodies = [
  '{"id":"lead_1","contact":{"name":"Zoë \u202e\ufeff"}}',
  '{"id":"lead_1","escaped":"\\u00e9\\/","amount":1e2,\n "note": "a.b=c,d" }\r\n',
];
/** WorkOS parses a body and signs what it writes of that. */
const bodiesOf = (name: string): string[] => (name === 'workos' ? bodies.slice(0, 1) : bodies);

const recorded: RecordedSignatures[] = [];

const cases = Object.entries(vendorLibraries).flatMap(([name, library]) =>
  bodiesOf(name).map((body, i) => [name, i, body, library] as const),
);

test.each(cases)(
  '%s, body %i: the library accepts what is signed here, and its own is accepted here, both unless tampered with',
  async (name, _, body, library) => {
    const scheme = schemeNamed(name);
    const message = outgoing(Buffer.from(body));

    const signedHere = scheme.sign(message, keyOf(scheme, library.secret), seconds * 1000);
    const sent = delivered(signedHere, message);
    expect(await library.accepts(sent)).toBe(true);
    const names = signedHere.map(([header]) => header);
    for (const changed of tampered(sent, names)) expect(await library.accepts(changed)).toBe(false);

    const signedByLibrary = await library.signed(body, seconds);
    const arrived = delivered(signedByLibrary, message);
    const keys = [keyOf(scheme, library.publicKey ?? library.secret)];
    expect(await library.accepts(arrived)).toBe(true);
    expect(scheme.authenticate(arrived, keys)).toMatchObject({ ok: true, key: 0 });
    const credentials = signedByLibrary.map(([header]) => header);
    for (const changed of tampered(arrived, credentials)) {
      expect(scheme.authenticate(changed, keys).ok).toBe(false);
    }

    recorded.push({
      library: released(library),
      scheme: name,
      secret: library.secret,
      verifiedWith: library.publicKey ?? library.secret,
      at: seconds,
      body,
      signedByLibrary: Object.fromEntries(signedByLibrary),
      acceptedByLibrary: Object.fromEntries(signedHere),
    });
  },
);

test('the record is what the libraries say today', async () => {
  // Some of its characters cannot be seen.
  const ascii = JSON.stringify(recorded, null, 2).replace(
    /[^\0-~]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  await expect(`${ascii}\n`).toMatchFileSnapshot('../webhook/presets/recorded-signatures.json');
});
