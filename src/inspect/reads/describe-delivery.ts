import { isUtf8 } from 'node:buffer';
import type { InboxReader, StoredDelivery } from '../../inbox/inbox.ts';
import { maxRejectedBody } from '../../inbox/store-limits.ts';
import { utf8 } from '../../json/bytes.ts';
import { storedDelivery } from '../../receiver/redelivery/delivery-by-number.ts';
import { whyNotReplayable } from '../replay/replayable.ts';
import type { WireDelivery, WireRow } from '../wire.ts';
import { explainStored } from './explain-stored.ts';
import { formatJson } from './format-json.ts';
import { rowOf } from './row-of.ts';

/** Of the body, in bytes. */
const shownBytes = 1024 * 1024;

const mostAttempts = 100;

export async function describeDelivery(
  inbox: Pick<InboxReader, 'list'>,
  seq: number,
): Promise<WireDelivery | undefined> {
  const delivery = await storedDelivery(inbox, seq);
  if (delivery === undefined) return undefined;
  const { body, place, leadId, results } = delivery;
  return {
    ...rowOf(delivery),
    remote: delivery.remote,
    method: delivery.method,
    path: delivery.path,
    headers: delivery.headers,
    text: utf8(body.subarray(0, shownBytes)),
    isCut: body.length > shownBytes,
    hasInvalidText: !isUtf8(body),
    missing: whatIsMissing(delivery),
    formatted: formatJson(body) ?? null,
    place: place ?? null,
    firstSeq: delivery.firstSeq ?? null,
    differs: delivery.differs ?? null,
    explanation: explainStored(delivery) ?? null,
    results: results.map(({ target, ok, answer, durationMs, at }) => ({
      target,
      ok,
      answer,
      durationMs,
      at,
    })),
    attempts: leadId === undefined ? [] : await attemptsOf(inbox, leadId),
    notReplayable: whyNotReplayable(delivery) ?? null,
  };
}

/** Oldest first: the newest of them. */
async function attemptsOf(inbox: Pick<InboxReader, 'list'>, leadId: string): Promise<readonly WireRow[]> {
  const rows: WireRow[] = [];
  for await (const delivery of inbox.list({ leadId })) {
    rows.push(rowOf(delivery));
    if (rows.length === mostAttempts) break;
  }
  return rows.reverse();
}

function whatIsMissing({ verdict, body }: StoredDelivery): string | null {
  if (verdict !== 'rejected' || body.length < maxRejectedBody) return null;
  return `Only the first ${maxRejectedBody / 1024} KiB of a rejected body are kept.`;
}
