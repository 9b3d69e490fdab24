import type { Capture, CaptureNote } from '../../capture/capture.ts';
import type { Context } from '../../context.ts';
import { DataError } from '../../errors.ts';
import type { StoredDelivery } from '../../inbox/inbox.ts';
import { maxRejectedBody } from '../../inbox/store-options.ts';
import type { InboxFlags } from '../flags/shared-flags.ts';
import { withInboxReader } from '../inbox/with-inbox.ts';

/**
 * A delivery of the inbox, by its number or, the newest one, by the id of its lead. Throws a `DataError` where
 * there is none.
 */
export async function storedCapture(id: string, flags: InboxFlags, context: Context): Promise<Capture> {
  const found = await withInboxReader(flags, context, async (inbox) => {
    const deliveries: StoredDelivery[] = [];
    if (/^\d{1,15}$/.test(id)) {
      for await (const delivery of inbox.list({ seq: Number(id) })) deliveries.push(delivery);
    }
    if (deliveries.length === 0) {
      for await (const delivery of inbox.list({ leadId: id })) deliveries.push(delivery);
    }
    return deliveries;
  });
  const [newest, ...others] = found ?? [];
  if (newest === undefined)
    throw new DataError(`the inbox has no delivery '${id}'`, { hint: "see 'leads inbox list'" });
  return captureOf(newest, others.length);
}

function captureOf(stored: StoredDelivery, others: number): Capture {
  const { seq, receivedAt, verdict, status, reason, detail, source, method, path, headers, body } = stored;
  const host = headers.find(([name]) => name.toLowerCase() === 'host')?.[1];
  const notes: CaptureNote[] = [];
  const note = (found: string, about: CaptureNote['about'] = 'delivery'): number =>
    notes.push({ about, found });
  if (others > 0) note(`the newest of ${others + 1} deliveries of this lead; --id NUMBER takes another`);
  if (source === 'backfill') note('it was fetched from the service, not pushed: nothing was signed');
  const was = reason === undefined ? `${verdict}, ${status}` : `${verdict}, ${status} ${reason}`;
  note(`when it came, it was ${was}${detail === undefined ? '' : `: ${detail}`}`);
  if (verdict === 'rejected' && body.length === maxRejectedBody) {
    note(`the inbox keeps only the first ${maxRejectedBody / 1024} KiB of a rejected body`, 'body');
  }
  return {
    form: `delivery ${seq} of the inbox`,
    method,
    url: host === undefined ? undefined : `https://${host}${path}`,
    path,
    rawHeaders: headers,
    body,
    at: receivedAt,
    notes,
  };
}
