import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { candidateSignatures } from '../../../src/webhook/explain/causes.ts';

const digest = (seed: string, hash = 'sha256') => createHash(hash).update(seed).digest();
const a = digest('a').toString('hex');
const b = digest('b').toString('hex');

const find = (...headers: readonly (readonly [string, string])[]) =>
  candidateSignatures({ rawHeaders: headers });
const places = (value: string) =>
  find(['X-Sig', value]).map(({ prefix, separator, bytes }) => [prefix, separator, bytes.toString('hex')]);

test.each([
  [a, [['', undefined, a]]],
  [`sha256=${a}`, [['sha256=', undefined, a]]],
  [`v1,${a}`, [['v1,', undefined, a]]],
  [`v1:${a}`, [['v1:', undefined, a]]],
  [`algorithm-name_1=${a}`, [['algorithm-name_1=', undefined, a]]],
  [`t=1,v1=${a}`, [['v1=', ',', a]]],
  [`t=1, v1=${a}`, [['v1=', ',', a]]],
  [`ts=1;h1=${a}`, [['h1=', ';', a]]],
  [`x y=${a}`, [['y=', ' ', a]]],
  [
    `v1=${a},v1=${b}`,
    [
      ['v1=', ',', a],
      ['v1=', ',', b],
    ],
  ],
  [
    `${a};${b}`,
    [
      ['', ';', a],
      ['', ';', b],
    ],
  ],
  [
    `v1,${a} v1,${b} v1a,${a}`,
    [
      ['v1,', ' ', a],
      ['v1,', ' ', b],
      ['v1a,', ' ', a],
    ],
  ],
  [`v1,${a},t=1`, [['', ',', a]]],
  [`v1=${a},t=1`, [['v1=', ',', a]]],
  [`t=1;v1=${a};x=y`, [['v1=', ';', a]]],
  [`sig="${a}"`, [[undefined, undefined, a]]],
  [`sig=${a}|rest`, [[undefined, undefined, a]]],
  [`t=1;sig=${a}|rest`, [[undefined, undefined, a]]],
  [`t=1;sig=${a},x=2`, [[undefined, undefined, a]]],
  [`{"sig":"${a}`, [['{"sig":"', undefined, a]]],
])('what stands around a signature is known: %s', (value, found) => expect(places(value)).toEqual(found));

test.each([
  ['hex', digest('a'), ['hmac-sha256']],
  ['hex', digest('a', 'sha1'), ['hmac-sha1']],
  ['hex', digest('a', 'sha512'), ['hmac-sha512', 'ed25519', 'ecdsa-p256-sha256']],
  ['base64', digest('a'), ['hmac-sha256']],
  ['base64url', digest('a'), ['hmac-sha256']],
  ['hex', Buffer.concat([Buffer.of(0x30, 68), Buffer.alloc(68, 1)]), ['ecdsa-p256-sha256-der']],
  ['base64', Buffer.alloc(256, 7), ['rsa-pss-sha512', 'rsa-v1_5-sha256']],
] as const)(
  'a value in %s is decoded, and its length says by what it may be made',
  (encoding, bytes, algorithms) => {
    const text = bytes.toString(encoding);
    expect(find(['X-Sig', text])).toMatchObject([{ header: 'x-sig', encoding, bytes, algorithms }]);
  },
);

test('hex is found in any case', () => {
  expect(find(['X-Sig', a.toUpperCase()])).toMatchObject([{ encoding: 'hex' }]);
});

test('what has no length of a signature is none', () => {
  const short = Buffer.concat([Buffer.of(0x31, 68), Buffer.alloc(68, 1)]).toString('hex');
  for (const value of ['', 'short', 'x'.repeat(26), a.slice(2), `${a}00`, short]) {
    expect(places(value), value).toEqual([]);
  }
});

test('headers that hold no signature, and values that are too long, are not looked at', () => {
  for (const name of ['Host', 'date', 'User-Agent', 'Accept-Encoding', 'Content-Digest', 'Cookie', 'Via']) {
    expect(find([name, a]), name).toEqual([]);
  }
  for (const name of ['X-Forwarded-For', 'Forwarded', 'Connection', 'Content-Type']) {
    expect(find([name, a]), name).toEqual([]);
  }
  for (const name of ['X-Host', 'Hosts', 'X-Date', 'Authorization', 'X-Via', 'Dates']) {
    expect(find([name, a]), name).toHaveLength(1);
  }
  expect(find(['X-Sig', `${'x,'.repeat(468)}${a}`])).toHaveLength(1);
  expect(find(['X-Sig', `x${'x,'.repeat(468)}${a}`])).toEqual([]);
});

test('eight are found, and not one more', () => {
  const macs = Array.from({ length: 10 }, (_, i) => digest(String(i)).toString('hex'));
  expect(find(['X-Sig', macs.join(',')])).toHaveLength(8);
  expect(find(...macs.map((mac, i) => [`X-Sig-${i}`, mac] as const))).toHaveLength(8);
});
