import type { FindingReason } from '../audit/classify-lead.ts';
import type { Messages } from './message.ts';

/** Of the command line alone: an audit is no part of the library. */
export const auditMessages: Messages<FindingReason> = {
  'age-unknown': () => 'its age is unknown: createdAt is no known form of time',
  'body-pruned': () => 'when it was created is not known: its body was pruned',
  'listed-outside': () => 'the service lists it outside of the window or the filters',
  'rejected-as': ({ reason }) => reason,
  'so-far': (found) => `${found.class} so far`,
};
