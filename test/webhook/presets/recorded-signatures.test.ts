import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { schemeNamed } from '../../../src/webhook/scheme-registry.ts';
import { delivered, outgoing } from '../delivery.ts';
import { keyOf } from '../schemes/every.ts';
import { tampered } from '../tampered.ts';
import { verify } from '../verify.ts';

/** What a vendor's own library signed and accepted, as test/oracles recorded it. */
export interface RecordedSignatures {
  /** Package and version. */
  readonly library: string;
  readonly scheme: string;
  readonly secret: string;
  readonly verifiedWith: string;
  /** Seconds since the epoch. */
  readonly at: number;
  readonly body: string;
  readonly signedByLibrary: Readonly<Record<string, string>>;
  /** Signed here. */
  readonly acceptedByLibrary: Readonly<Record<string, string>>;
}

const recorded = JSON.parse(
  readFileSync(new URL('recorded-signatures.json', import.meta.url), 'utf8'),
) as readonly RecordedSignatures[];

test.each(recorded)(
  '$library accepts what is signed here, byte for byte',
  ({ scheme: name, secret, at, body, acceptedByLibrary }) => {
    const scheme = schemeNamed(name);
    const signed = scheme.sign(outgoing(Buffer.from(body)), keyOf(scheme, secret), at * 1000);
    expect(Object.fromEntries(signed)).toEqual(acceptedByLibrary);
  },
);

test.each(recorded)(
  'what $library signs is accepted here, and nothing that was tampered with',
  ({ scheme: name, verifiedWith, at, body, signedByLibrary }) => {
    const scheme = schemeNamed(name);
    const keys = [keyOf(scheme, verifiedWith)];
    const arrived = delivered(Object.entries(signedByLibrary), outgoing(Buffer.from(body)));
    expect(verify(arrived, scheme, keys, at * 1000)).toMatchObject({ ok: true, key: 0 });
    for (const changed of tampered(arrived, Object.keys(signedByLibrary))) {
      expect(scheme.authenticate(changed, keys).ok).toBe(false);
    }
  },
);
