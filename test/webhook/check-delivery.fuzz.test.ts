import fc from 'fast-check';
import { expect, test } from 'vitest';
import { answerForOutcome } from '../../src/webhook/delivery-answer.ts';
import { explanationLines } from '../../src/output/explanation.ts';
import { explain } from '../../src/webhook/explain/explain-delivery.ts';
import { checkDelivery } from '../../src/webhook/check-delivery.ts';
import { headerRedactor } from '../../src/receiver/credentials.ts';
import { unverified } from '../../src/webhook/scheme.ts';
import { delivered, outgoing } from './delivery.ts';
import { cases, keyOf } from './schemes/every.ts';

const now = Date.UTC(2026, 0, 15, 12);
const latin1 = fc.string({ unit: fc.integer({ min: 0, max: 255 }).map((code) => String.fromCharCode(code)) });
const names = [...new Set(cases.flatMap(({ scheme, secret }) => signedNames(scheme, secret)))];
function signedNames(scheme: (typeof cases)[number]['scheme'], secret: string): string[] {
  return scheme.sign(outgoing(), keyOf(scheme, secret), now).map(([name]) => name);
}
const header = fc.tuple(
  fc.oneof(fc.constantFrom(...names, 'content-type', 'content-encoding', 'host'), latin1),
  fc.oneof(latin1, fc.constantFrom('application/json', '1768478400', 'v1,', 'sha256=', 't=,v1=', 'sig1=()')),
);
const body = fc.oneof(
  fc.json().map((text) => Buffer.from(text)),
  fc.uint8Array().map((bytes) => Buffer.from(bytes)),
  fc.constantFrom(
    Buffer.from(`{"id":"a","x":${'['.repeat(20_000)}${']'.repeat(20_000)}}`),
    Buffer.from(`{"id":"a","__proto__":{"id":1},"constructor":null}`),
    Buffer.from(`{"id":"a","contact":{"name":"\\ud800"},"n":1e999,"big":${'9'.repeat(400)}}`),
    Buffer.from('{"id":"a","id":"b"}'),
  ),
);
const delivery = fc.record({
  method: fc.oneof(fc.constant('POST'), latin1),
  path: fc.oneof(fc.constant('/leads'), latin1),
  url: fc.oneof(fc.constant('https://hooks.example.com/leads'), latin1),
  rawHeaders: fc.array(header, { maxLength: 12 }),
  body,
  remote: fc.constant('127.0.0.1'),
  receivedAt: fc.constant(now),
});

test.each(cases)('$name: whatever is sent, the answer is one of the contract', ({ scheme, secret }) => {
  const keys = [keyOf(scheme, secret)];
  fc.assert(
    fc.property(delivery, (one) => {
      const found = checkDelivery(one, { path: undefined, scheme, keys }, now);
      if (found.kind !== 'rejected') throw new Error('nothing here is signed');
      expect(answerForOutcome(found).status).toBeGreaterThanOrEqual(400);
      expect(answerForOutcome(found).status).toBeLessThan(500);
      headerRedactor(scheme)(one.rawHeaders);
    }),
    { numRuns: 200 },
  );
});

test('without verification, every body is a lead or a rejection', () => {
  const policy = { path: undefined, scheme: unverified, keys: [] };
  fc.assert(
    fc.property(delivery, (one) => {
      const found = checkDelivery(
        { ...one, method: 'POST', rawHeaders: delivered([]).rawHeaders },
        policy,
        now,
      );
      const ids = found.kind === 'rejected' ? [found.status] : found.leads.map(({ leadId }) => leadId);
      expect(ids[0]).toBeTruthy();
    }),
    { numRuns: 1000 },
  );
});

test('every rejection is explained without an exception', () => {
  for (const { scheme, secret } of cases) {
    fc.assert(
      fc.property(delivery, (one) => {
        const sentences = explanationLines(
          explain(one, { scheme, keys: [keyOf(scheme, secret)] }, now),
          'linux',
        );
        for (const sentence of sentences) expect(sentence).not.toContain(secret);
      }),
      { numRuns: 8 },
    );
  }
});
