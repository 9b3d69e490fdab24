import { expect, test } from 'vitest';
import { junitDocument, type TestCase } from '../../src/output/junit.ts';
import { expectJunit } from '../support/junit.ts';
import { elementsOf } from '../support/xml.ts';

const startedAt = Date.UTC(2026, 0, 15, 12);
const hostile = `"quotes" 'single' <b>&amp; ]]> \u0000\u0008\u001b[31m\u007f\u009b\ufffe\ud800 tab\t cr\r nl\nÜ 👩‍💻`;
const readBack = `"quotes" 'single' <b>&amp; ]]> \ufffd\ufffd\ufffd[31m\ufffd\ufffd\ufffd\ufffd tab\t cr\r nl\nÜ 👩‍💻`;

const cases: readonly TestCase[] = [
  { className: 'leads.check.body', name: 'empty', ms: 1234.4, outcome: { kind: 'passed' } },
  { className: 'leads.check.body', name: hostile, ms: 0, outcome: { kind: 'passed' } },
  { className: 'leads.check.tls', name: 'days', ms: 0, outcome: { kind: 'skipped', message: hostile } },
  {
    className: 'leads.check.body',
    name: 'null',
    ms: -1,
    outcome: { kind: 'failed', type: 'must', message: hostile, text: hostile },
  },
];

const document = junitDocument({ name: 'leads check', startedAt, ms: 2500, cases });

test("a document has the elements and attributes of Jenkins' schema, and no others", () => {
  expectJunit(document);
});

test('counts and times are those of the cases', () => {
  const [suites, suite, first] = elementsOf(document);
  expect(suites?.attributes).toEqual({
    name: 'leads check',
    tests: '4',
    failures: '1',
    errors: '0',
    time: '2.500',
  });
  expect(suite?.attributes).toMatchObject({ skipped: '1', timestamp: '2026-01-15T12:00:00' });
  expect(first?.attributes).toEqual({ classname: 'leads.check.body', name: 'empty', time: '1.234' });
});

test('texts come back as they were, but for characters that XML or its readers do not take', () => {
  expect(document).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\ufffe\uffff]|\]\]>/);
  const failure = elementsOf(document).find(({ name }) => name === 'failure');
  expect(failure?.attributes).toEqual({ type: 'must', message: readBack.replace('\t', '\t') });
  expect(failure?.text).toBe(readBack);
  expect(elementsOf(document).find(({ name }) => name === 'skipped')?.attributes['message']).toBe(readBack);
});
