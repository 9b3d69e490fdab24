import { bodyNote, type Capture, valueOf } from '../../capture/capture.ts';
import type { Context } from '../../context.ts';
import { DataError } from '../../errors.ts';
import type { StoredDelivery } from '../../inbox/inbox.ts';
import { maxRejectedBody } from '../../inbox/store-options.ts';
import type { InboxFlags } from '../flags/shared-flags.ts';
import { withInboxReader } from '../inbox/with-inbox.ts';

/**
 * Reads the delivery with this number or, if none has it, the newest one of the lead with this id. Throws a `DataError` where
 * neither is stored.
 */
export async function storedCapture(id: string, flags: InboxFlags, context: Context): Promise<Capture> {
  const deliveries = await withInboxReader(flags, context, async (inbox) => {
    const matches: StoredDelivery[] = [];
    // More digits may not fit into a safe integer, and the id of a lead may be a number too.
    if (/^\d{1,15}$/.test(id)) {
      for await (const delivery of inbox.list({ seq: Number(id) })) matches.push(delivery);
    }
    if (matches.length === 0) {
      for await (const delivery of inbox.list({ leadId: id })) matches.push(delivery);
    }
    return matches;
  });
  const [newest, ...older] = deliveries ?? [];
  if (newest === undefined)
    throw new DataError(`the inbox has no delivery '${id}'`, { hint: "see 'leads inbox list'" });
  return captureOf(newest, older.length);
}

function captureOf(stored: StoredDelivery, olderCount: number): Capture {
  const { seq, receivedAt, verdict, status, reason, detail, source, method, path, headers, body } = stored;
  const host = valueOf(headers, 'host');
  const outcome = `${verdict}, ${status}${reason === undefined ? '' : ` ${reason}`}`;
  const remarks = [
    olderCount > 0 && `the newest of ${olderCount + 1} deliveries of this lead; --id NUMBER takes another`,
    source === 'backfill' && 'it was fetched from the service, not pushed: nothing was signed',
    `when it came, it was ${outcome}${detail === undefined ? '' : `: ${detail}`}`,
  ];
  const isCut = (verdict === 'rejected' || verdict === 'other') && body.length === maxRejectedBody;
  const limit = `the inbox keeps only the first ${maxRejectedBody / 1024} KiB of a body without a lead that was taken`;
  return {
    form: `delivery ${seq} of the inbox`,
    method,
    url: host === undefined ? undefined : `https://${host}${path}`,
    path,
    rawHeaders: headers,
    body,
    capturedAt: receivedAt,
    notes: [
      ...remarks.flatMap((message) => (message === false ? [] : [{ about: 'delivery' as const, message }])),
      ...(isCut ? [bodyNote(limit)] : []),
    ],
  };
}
