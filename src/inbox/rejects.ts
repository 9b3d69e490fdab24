import type { Rejection } from '../webhook/rejection.ts';

/** Of unauthenticated and otherwise refused deliveries: how many are kept, and how much of each body. */
export const rejectedKept = 1000;
export const rejectedBody = 16 * 1024;

export const replayedNonce: Rejection = {
  kind: 'rejected',
  status: 401,
  reason: 'replayed_nonce',
  detail: 'the nonce came before, with another body',
};
