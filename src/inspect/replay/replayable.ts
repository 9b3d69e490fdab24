import type { StoredDelivery } from '../../inbox/inbox.ts';

/** Why a stored delivery is never replayed, in one sentence; undefined where it may be. */
export function whyNotReplayable({
  verdict,
  leadId,
}: Pick<StoredDelivery, 'verdict' | 'leadId'>): string | undefined {
  if (verdict === 'rejected') return 'A rejected delivery is never replayed: nobody knows who sent it.';
  return leadId === undefined ? 'The delivery holds no lead.' : undefined;
}
