import type { Inbox, StoredDelivery } from '../../inbox/inbox.ts';

/** The delivery of that number; undefined where there is none. */
export async function storedDelivery(
  inbox: Pick<Inbox, 'list'>,
  seq: number,
): Promise<StoredDelivery | undefined> {
  for await (const delivery of inbox.list({ seq })) return delivery;
  return undefined;
}
