import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, test } from 'vitest';
import { rejectReasons } from '../../src/webhook/delivery-answer.ts';
import { type Case, cases, keyOf } from '../webhook/schemes/every.ts';
import { verify } from '../webhook/verify.ts';
import type { Vector, VectorFile } from './vector.ts';

const read = (name: string): unknown => JSON.parse(readFileSync(new URL(name, import.meta.url), 'utf8'));
const file = read('vectors.json') as VectorFile;
const caseOf = (vector: Vector): Case => {
  const found = cases.find(({ name }) => name === vector.scheme);
  if (found === undefined) throw new Error(`no scheme ${vector.scheme}`);
  return found;
};

const said = (vector: Vector): string => {
  const { scheme } = caseOf(vector);
  const { method, url, headers, body } = vector.request;
  const { pathname, search } = new URL(url);
  const delivery = {
    method,
    url,
    path: pathname + search,
    rawHeaders: headers,
    body: Buffer.from(body, 'base64'),
    remote: '127.0.0.1',
    receivedAt: vector.now * 1000,
  };
  const verification = verify(
    delivery,
    scheme,
    vector.keys.map((key) => keyOf(scheme, key)),
    vector.now * 1000,
  );
  return verification.ok ? 'genuine' : verification.reason;
};

test('the vectors are as their schema says', () => {
  const ajv = new Ajv2020({
    strictTypes: false,
    strictRequired: false,
    formats: { uri: (text: string) => URL.canParse(text), regex: true },
  });
  const validate = ajv.compile(read('vectors.schema.json') as object);
  expect(validate(file), JSON.stringify(validate.errors)).toBe(true);
  expect(validate({ ...file, vectors: [{ ...file.vectors[0], genuine: false }] })).toBe(false);
});

test('every vector is judged as it says', () => {
  const other = file.vectors.filter((vector) => said(vector) !== (vector.reason ?? 'genuine'));
  expect(other.map((vector) => `${vector.id}: ${said(vector)}`)).toEqual([]);
});

test('every scheme has genuine and tampered deliveries, and every reason of a verifier occurs', () => {
  const missing = cases.filter(
    ({ name }) =>
      new Set(file.vectors.filter(({ scheme }) => scheme === name).map(({ genuine }) => genuine)).size < 2,
  );
  expect(missing.map(({ name }) => name)).toEqual([]);
  const found = new Set(file.vectors.map(({ reason }) => reason));
  const ofVerifiers = rejectReasons.filter((reason) => /_(credential|timestamp|nonce)$/.test(reason));
  // That a nonce came before is the inbox's knowledge, and which verify token is right the registration's.
  expect(ofVerifiers.filter((reason) => !found.has(reason))).toEqual(['replayed_nonce']);
});
