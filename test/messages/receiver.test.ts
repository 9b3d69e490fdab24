import { expect, it } from 'vitest';
import { problemSentence } from '../../src/messages/find-message.ts';
import type { ReceiverNote, ReceiverProblem } from '../../src/receiver/problems.ts';

it.each<[ReceiverProblem | ReceiverNote, string]>([
  [{ kind: 'no-delivery-of-lead', leadId: 'a' }, "the inbox has no delivery of the lead 'a'"],
  [{ kind: 'delivery-without-lead', number: 3 }, 'delivery number 3 of the inbox holds no lead'],
  [{ kind: 'former-secret-used', number: 2, secrets: 2 }, 'deliveries still use secret 2 of 2'],
  [
    { kind: 'rejected-not-kept', why: 'the disk is full' },
    'the disk is full; rejected deliveries are not kept',
  ],
  [{ kind: 'lead-not-sent', leadId: 'a', why: 'it holds no lead' }, "it holds no lead; 'a' is not forwarded"],
  [
    { kind: 'pulled-without-id', leads: 1 },
    '1 lead of the service has no id: the backfill cannot take it in',
  ],
  [
    { kind: 'pulled-without-id', leads: 2 },
    '2 leads of the service have no id: the backfill cannot take them in',
  ],
])('says what %j is', (found, sentence) => {
  expect(problemSentence(found)).toBe(sentence);
});
