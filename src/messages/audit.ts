import type { FindingReason } from '../audit/classify-lead.ts';
import { messageIn, type Messages } from './message.ts';

const auditMessages: Messages<FindingReason> = {
  'age-unknown': () => 'its age is unknown: createdAt is no known form of time',
  'body-pruned': () => 'when it was created is not known: its body was pruned',
  'listed-outside': () => 'the service lists it outside of the window or the filters',
  'rejected-as': ({ reason }) => reason,
  'so-far': (found) => `${found.class} so far`,
};

/** Of the command line alone, and of no error: what every other command loads lacks it. */
export const reasonText = (found: FindingReason): string =>
  messageIn(auditMessages, found)?.message ?? found.kind;
