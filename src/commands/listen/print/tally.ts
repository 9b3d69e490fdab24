import type { VerdictKind } from '../../../inbox/decide-verdict.ts';
import type { AnsweredDelivery } from '../../../receiver/answered-delivery.ts';
import { formatDuration } from '../../../time/duration.ts';
import type { RejectReason } from '../../../webhook/rejection.ts';

/** Deliveries by verdict, and rejected ones by reason. */
export type Tally = Record<VerdictKind, number> & { readonly reasons: Partial<Record<RejectReason, number>> };

export const emptyTally = (): Tally => ({ accepted: 0, duplicate: 0, pending: 0, rejected: 0, reasons: {} });

export function count(tally: Tally, { verdict, reason }: Pick<AnsweredDelivery, 'verdict' | 'reason'>): void {
  tally[verdict] += 1;
  if (reason !== undefined) tally.reasons[reason] = (tally.reasons[reason] ?? 0) + 1;
}

/** `3 accepted, 1 duplicate, 2 rejected (2 wrong_credential) in 12.0s` */
export function summaryLine(tally: Tally, durationMs: number): string {
  const { accepted, duplicate, pending, rejected, reasons } = tally;
  const parts = [`${accepted} accepted`];
  if (duplicate > 0) parts.push(`${duplicate} duplicate`);
  if (pending > 0) parts.push(`${pending} pending`);
  if (rejected > 0) {
    const counts = Object.entries(reasons).map(([reason, times]) => `${times} ${reason}`);
    parts.push(`${rejected} rejected (${counts.join(', ')})`);
  }
  return `${parts.join(', ')} in ${formatDuration(durationMs)}`;
}
