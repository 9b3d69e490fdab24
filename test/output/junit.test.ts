import { expect, test } from 'vitest';
import { type Finding, junitDocument } from '../../src/output/report.ts';
import { expectJunit } from '../support/junit.ts';
import { elementsOf } from '../support/xml.ts';

const startedAt = Date.UTC(2026, 0, 15, 12);
const hostile = `"quotes" 'single' <b>&amp; ]]> \u0000\u0008\u001b[31m\u007f\u009b\ufffe\ud800 tab\t cr\r nl\nÜ 👩‍💻`;
const readBack = `"quotes" 'single' <b>&amp; ]]> \ufffd\ufffd\ufffd[31m\ufffd\ufffd\ufffd\ufffd tab\t cr\r nl\nÜ 👩‍💻`;

const passed: Finding = {
  outcome: 'pass',
  group: 'body',
  name: 'empty',
  level: 'must',
  expected: '400',
  detail: '',
  evidence: '',
  hint: null,
  command: null,
  isReasonToFail: false,
  ms: 1234.4,
  record: {},
};
const findings: readonly Finding[] = [
  passed,
  { ...passed, name: hostile, ms: 0 },
  { ...passed, outcome: 'skip', group: 'tls', name: 'days', detail: hostile, ms: 0 },
  { ...passed, outcome: 'fail', name: 'known', detail: '200', level: 'should' },
  {
    ...passed,
    outcome: 'fail',
    name: 'null',
    detail: hostile,
    evidence: ' after 3ms',
    isReasonToFail: true,
    ms: -1,
  },
];

const document = junitDocument('leads check', {
  title: '',
  findings,
  remarks: [],
  conclusion: '',
  isInOrder: false,
  summary: {},
  startedAt,
  ms: 2500,
});

test("a document has the elements and attributes of Jenkins' schema, and no others", () => {
  expectJunit(document);
});

test('counts and times are those of the cases', () => {
  const [suites, suite, first] = elementsOf(document);
  expect(suites?.attributes).toEqual({
    name: 'leads check',
    tests: '5',
    failures: '1',
    errors: '0',
    time: '2.500',
  });
  expect(suite?.attributes).toMatchObject({ skipped: '2', timestamp: '2026-01-15T12:00:00' });
  expect(first?.attributes).toEqual({ classname: 'leads.check.body', name: 'empty', time: '1.234' });
});

test('texts come back as they were, but for characters that XML or its readers do not take', () => {
  expect(document).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\ufffe\uffff]|\]\]>/);
  const failure = elementsOf(document).find(({ name }) => name === 'failure');
  expect(failure?.attributes).toEqual({ type: 'must', message: `expected 400; ${readBack}` });
  expect(failure?.text).toBe(`expected: 400\nseen: ${readBack} after 3ms\nhint: none\n`);
  const skipped = elementsOf(document).filter(({ name }) => name === 'skipped');
  expect(skipped.map(({ attributes }) => attributes['message'])).toEqual([readBack, 'fail: 200']);
});
