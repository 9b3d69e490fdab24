import type { InboxReader } from '../../inbox/inbox.ts';
import type { WirePage, WireRow } from '../wire.ts';
import { rowOf } from './delivery-row.ts';
import type { PageQuery } from './query-types.ts';

/** One page of the list, newest first. */
export async function listPage(
  inbox: Pick<InboxReader, 'list' | 'lookUp' | 'lackingTargets'>,
  { limit, ...query }: PageQuery,
): Promise<WirePage> {
  const rows: WireRow[] = [];
  let hasMore = false;
  for await (const delivery of inbox.list(query)) {
    if (rows.length === limit) {
      hasMore = true;
      break;
    }
    rows.push(await rowOf(inbox, delivery));
  }
  const next = hasMore ? (rows.at(-1)?.seq ?? null) : null;
  const { leadId } = query;
  return { rows, next, lead: leadId === undefined ? null : await stateOf(inbox, leadId, rows) };
}

/** Why the list lacks what the inbox had of a lead. */
async function stateOf(
  inbox: Pick<InboxReader, 'lookUp'>,
  leadId: string,
  rows: readonly WireRow[],
): Promise<WirePage['lead']> {
  const [lead] = await inbox.lookUp([leadId]);
  if (lead === undefined) return null;
  if (lead.digest === undefined) return 'erased';
  return rows.some(({ verdict }) => verdict !== 'rejected') ? null : 'pruned';
}
