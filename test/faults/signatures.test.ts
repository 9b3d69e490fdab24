import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { equalInConstantTime } from '../../src/webhook/crypto/signature.ts';
import { verify } from '../webhook/verify.ts';
import { overhear } from '../support/overheard.ts';
import { delivered, outgoing } from '../webhook/delivery.ts';
import { type Case, cases, keyOf } from '../webhook/schemes/every.ts';
import { full } from '../support/faults.ts';

const now = Date.UTC(2026, 0, 15, 12);

const awkward = [
  [0x1b, 0x5b, 0x32, 0x4a],
  [0xef, 0xbb, 0xbf],
  [0xff],
  [0x00],
  [0x0d, 0x0a],
  [0xed, 0xa0, 0x80],
];

/** A body that no text function would hand on unchanged; the same for the same number. */
function bodyOf(seed: number): Buffer {
  const noise = createHash('sha512').update(String(seed)).digest();
  const odd = Buffer.from(awkward[seed % awkward.length] ?? []);
  return Buffer.concat([Buffer.from('{"id":"'), noise.subarray(0, seed % 60), odd, Buffer.from('"}')]);
}

test('promise 4: every changed byte of a body is noticed, in every scheme, whatever its bytes are', () => {
  const bodies = full ? 400 : 40;
  let [taken, signed, forged, mistaken] = [0, 0, 0, 0];
  for (const one of cases) {
    const [key, other] = [keyOf(one.scheme, one.secret), keyOf(one.scheme, one.other)];
    for (let seed = 0; seed < bodies; seed += 1) {
      const message = outgoing(bodyOf(seed));
      const honest = delivered(one.scheme.sign(message, key, now), message);
      signed += 1;
      if (verify(honest, one.scheme, [other, key], now).ok) taken += 1;
      for (const bad of forgeries(one, honest, seed)) {
        forged += 1;
        if (verify(bad, one.scheme, [other, key], now).ok) mistaken += 1;
      }
    }
  }
  console.log(
    `promise 4: ${cases.length} forms of signing: ${taken} of ${signed} signed deliveries taken, ${mistaken} of ${forged} forged`,
  );
  expect({ taken, mistaken }).toEqual({ taken: signed, mistaken: 0 });
  expect(forged).toBeGreaterThan(signed / 2);
});

function* forgeries({ coversBody }: Case, honest: ReturnType<typeof delivered>, seed: number) {
  if (!coversBody) return;
  const body = Buffer.from(honest.body);
  const at = (seed * 7919) % body.length;
  body[at] = (body[at] ?? 0) ^ (1 << (seed & 7));
  yield { ...honest, body };
  const decoded = Buffer.from(honest.body.toString());
  if (!decoded.equals(honest.body)) yield { ...honest, body: decoded };
}

test('promise 4: no secret and no expected signature leaves the process', async () => {
  const chosen = full
    ? cases
    : cases.filter((one) => /^(token|svix|stripe|custom everything)/.test(one.name));
  let searched = 0;
  for (const one of chosen) {
    const receiver = await overhear([...one.flags, '--verbose', '--explain'], one.secret);
    const message = { ...outgoing(), url: `${receiver.url}/` };
    const at = Date.now();
    const right = one.scheme.sign(message, keyOf(one.scheme, one.secret), at);
    const wrong = one.scheme.sign(message, keyOf(one.scheme, one.other), at);
    const statuses = [
      await receiver.post(wrong, message.body),
      await receiver.post([], message.body),
      await receiver.post(wrong.with(-1, [wrong.at(-1)?.[0] ?? '', 'junk']), message.body),
      await receiver.post(
        one.scheme.sign(message, keyOf(one.scheme, one.secret), at - 3_600_000),
        message.body,
      ),
      await receiver.post(right, message.body),
    ].map((answer) => answer.status);
    expect(statuses, one.name).toEqual([
      401,
      401,
      401,
      one.scheme.toleranceMs === undefined ? 200 : 401,
      200,
    ]);
    const everything = await receiver.stop();
    for (const form of secretForms(one, right)) {
      expect(everything.includes(form), `${one.name}: ${form.slice(0, 6)}…`).toBe(false);
    }
    searched += everything.length;
  }
  console.log(
    `promise 4: ${chosen.length} receivers, ${searched} bytes of output, answers and inbox searched: secrets found 0`,
  );
});

/** What must not be found: the secret, and what the right credential would have been, in every writing. */
function secretForms({ secret, scheme }: Case, right: readonly (readonly [string, string])[]): string[] {
  const credentials = right
    .filter(([name]) => scheme.credentialHeaders.includes(name))
    .map(([, value]) => value);
  const macs = credentials.flatMap((value) => value.match(/[A-Za-z0-9+/_-]{27,}={0,2}/g) ?? []);
  const bytes = Buffer.from(secret);
  const lines = secret.split('\n').filter((line) => line.length > 8 && !line.startsWith('-'));
  return [...lines, ...macs, bytes.toString('hex'), bytes.toString('base64')];
}

test('promise 4: only digests of fixed length are compared, whatever is sent', () => {
  const folder = fileURLToPath(new URL('../../src/webhook', import.meta.url));
  const sources = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.startsWith('explain'))
    .map((name) => ({ name, text: readFileSync(join(folder, name), 'utf8') }));
  const using = (pattern: RegExp): string[] =>
    sources.filter(({ text }) => pattern.test(text)).map(({ name }) => name);
  expect(using(/timingSafeEqual/)).toEqual(['crypto/signature.ts']);
  expect(using(/\.equals\(|Buffer\.compare|\.compare\(/)).toEqual([]);
  expect(equalInConstantTime(Buffer.alloc(0), Buffer.alloc(1))).toBe(false);
  expect(equalInConstantTime(Buffer.alloc(70_000), Buffer.alloc(3))).toBe(false);
});
