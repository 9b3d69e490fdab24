import { expect, test } from 'vitest';
import { answerForOutcome, rejection } from '../../src/webhook/delivery-answer.ts';

test('accepted and duplicate are acknowledged', () => {
  expect(answerForOutcome({ kind: 'accepted', leadId: 'a' })).toEqual({
    status: 200,
    body: { status: 'accepted', id: 'a' },
  });
  expect(answerForOutcome({ kind: 'duplicate', leadId: 'a' }).body).toEqual({ status: 'duplicate', id: 'a' });
});

test.each([
  ['not_json', 400],
  ['not_a_lead', 400],
  ['wrong_credential', 401],
  ['stale_timestamp', 401],
  ['replayed_nonce', 401],
  ['wrong_path', 404],
  ['too_slow', 408],
  ['too_large', 413],
  ['wrong_content_type', 415],
  ['cannot_store', 503],
] as const)('%s is answered %i, without its detail', (reason, status) => {
  const answer = answerForOutcome(rejection(reason, 'what only the receiver may know'));
  expect(answer).toMatchObject({ status, body: { error: reason } });
  expect(Object.keys(answer.body)).toEqual(['error', 'message']);
  expect(JSON.stringify(answer)).not.toContain('only the receiver');
});

test('a sender that is asked to come again learns when', () => {
  for (const reason of ['overloaded', 'cannot_store'] as const) {
    const answer = answerForOutcome(rejection(reason, ''));
    expect(answer).toMatchObject({ status: 503, headers: { 'retry-after': '5' } });
  }
  expect(answerForOutcome(rejection('not_json', '')).headers).toBeUndefined();
});

test('the answer to another method says which one is allowed', () => {
  expect(answerForOutcome(rejection('wrong_method', ''))).toMatchObject({
    status: 405,
    headers: { allow: 'POST' },
  });
});
