import { expect, test } from 'vitest';
import {
  type SignatureHeaderFormat,
  signatureHeaderReader,
} from '../../../src/webhook/schemes/signature-header.ts';
import { delivered } from '../delivery.ts';

const mac = (digit: string) => digit.repeat(64);

const read = (format: Partial<SignatureHeaderFormat>, ...values: string[]) =>
  signatureHeaderReader({
    signatureHeader: 'x-sig',
    algorithm: 'hmac-sha256',
    encoding: 'hex',
    prefix: '',
    ...format,
  })(delivered(values.map((value) => ['X-Sig', value] as const)));

const macsIn = (header: ReturnType<typeof read>) =>
  header.ok ? header.signatures.map(({ bytes }) => Buffer.from(bytes).toString('hex')) : header.reason;

test('sixteen entries are read, and not one more', () => {
  const entries = (count: number) => Array.from({ length: count }, () => mac('a'));
  const separator = ';';
  expect(macsIn(read({ separator }, entries(16).join(';')))).toHaveLength(16);
  expect(macsIn(read({ separator }, entries(17).join(';')))).toBe('malformed_credential');
  expect(macsIn(read({ isRepeatable: true }, ...entries(16)))).toHaveLength(16);
  expect(macsIn(read({ isRepeatable: true }, ...entries(17)))).toBe('malformed_credential');
});

test('blanks around the separator do not count, and a separator of blanks is one', () => {
  for (const separator of [',', ', ', ' ,', ' , ']) {
    for (const value of [`${mac('a')},${mac('b')}`, `${mac('a')} , ${mac('b')}`]) {
      expect(macsIn(read({ separator }, value)), separator).toEqual([mac('a'), mac('b')]);
    }
  }
  expect(macsIn(read({ separator: ' ' }, `${mac('a')} ${mac('b')}`))).toEqual([mac('a'), mac('b')]);
});

test('without a separator, or in the second of several entries, a comma shows that a proxy joined headers', () => {
  const joined = 'repeated_credential';
  expect(macsIn(read({}, `${mac('a')},${mac('b')}`))).toBe(joined);
  expect(macsIn(read({ prefix: 'v1,' }, `v1,${mac('a')}`))).toEqual([mac('a')]);
  expect(macsIn(read({ prefix: 'v1,' }, `v1,${mac('a')},`))).toBe(joined);
  const spaced = { separator: ' ', prefix: 'v1,', ed25519Prefix: 'v1a,' };
  expect(macsIn(read(spaced, `v1,${mac('a')} v1,${mac('b')}`))).toEqual([mac('a'), mac('b')]);
  expect(macsIn(read(spaced, `v1,${mac('a')},v1,${mac('b')}`))).toBe(joined);
  expect(macsIn(read(spaced, `v1,${mac('a')}, v1a,${mac('b')}`))).toBe(joined);
  const timed = { separator: ';', prefix: 'h1=', timestampPrefix: 'ts=' };
  expect(macsIn(read(timed, `ts=1;h1=${mac('a')}`))).toEqual([mac('a')]);
  expect(macsIn(read(timed, `ts=1;h1=${mac('a')}, ts=1;h1=${mac('a')}`))).toBe(joined);
  // The entries of one sender may hold commas of their own.
  expect(macsIn(read(timed, `ts=1;h1=${mac('a')};x=1,2`))).toEqual([mac('a')]);
  const odd = { separator: ';', prefix: '(.)' };
  expect(macsIn(read(odd, `(.)${mac('a')},(.)${mac('b')}`))).toBe(joined);
  expect(macsIn(read(odd, `(.)${mac('a')};x=,(-)`))).toEqual([mac('a')]);
  expect(macsIn(read({ separator: ';', prefix: ',' }, `,${mac('a')}`))).toEqual([mac('a')]);
});

test('what is wrong is said: no signature, or one that cannot be read', () => {
  const format = { separator: ',', prefix: 'v1=', timestampPrefix: 't=' };
  expect(read(format, 't=1')).toMatchObject({ detail: "the header x-sig has no signature 'v1=…'" });
  expect(read(format, 't=1,v1=potato')).toMatchObject({
    detail: 'the signature in x-sig is not 32 bytes in hex',
  });
  expect(read(format, `t=1,t=2,v1=${mac('a')}`)).toMatchObject({ detail: 'the header x-sig has two t=' });
  expect(read(format, `v1=${mac('a')},t=1`)).toMatchObject({ timestamp: '1' });
  expect(read(format, `v1=${mac('a')}`)).toMatchObject({ timestamp: undefined });
  expect(read({ ...format, timestampPrefix: undefined }, `v1=${mac('a')},t=1`)).toMatchObject({
    timestamp: undefined,
  });
});

test('an Ed25519 signature is read beside others where it has a prefix of its own', () => {
  const format = { separator: ' ', prefix: 'v1,', ed25519Prefix: 'v1a,' };
  const header = read(format, `v1a,${'c'.repeat(128)} v1,${mac('a')} v1a,${mac('b')}`);
  expect(header).toMatchObject({ signatures: [{ algorithm: 'hmac-sha256' }, { algorithm: 'ed25519' }] });
  expect(macsIn(header)).toEqual([mac('a'), 'c'.repeat(128)]);
  expect(macsIn(read({ separator: ' ', prefix: 'v1,' }, `v1a,${'c'.repeat(128)}`))).toBe(
    'malformed_credential',
  );
});
