import { isUtf8 } from 'node:buffer';
import type { Forward, StoredDelivery } from '../../inbox/inbox.ts';
import { leadBytes } from '../../lead/raw-lead.ts';
import { utf8 } from '../../json/bytes.ts';
import { recordWriter, streamSink } from '../../output/records/record-writer.ts';
import type { Output } from '../../host.ts';

const isoText = (ms: number): string => new Date(ms).toISOString();

/** All fields of a summary, in the order of the columns of CSV. */
export const summaryColumns = Object.keys({
  ...{ number: true, receivedAt: true, verdict: true, reason: true, detail: true, status: true },
  ...{ leadId: true, attempt: true, source: true, remote: true, method: true, path: true },
  ...{ bytes: true, differs: true },
} satisfies Record<keyof ReturnType<typeof deliverySummary>, true>);

export const deliverySummary = (delivery: StoredDelivery) => ({
  number: delivery.seq,
  receivedAt: isoText(delivery.receivedAt),
  verdict: delivery.verdict,
  reason: delivery.reason ?? null,
  detail: delivery.detail ?? null,
  status: delivery.status,
  leadId: delivery.leadId ?? null,
  attempt: delivery.attempt,
  source: delivery.source,
  remote: delivery.remote,
  method: delivery.method,
  path: delivery.path,
  bytes: delivery.body.length,
  differs: delivery.differs ?? null,
});

/**
 * The same with headers and body, and the lead where it is only a part of the body; a body that is no text is in
 * `bodyBase64`. `forwards`: where the lead stands at its targets.
 */
export function deliveryDetails(delivery: StoredDelivery, forwards: readonly Forward[]) {
  const body = Buffer.from(delivery.body);
  return {
    ...deliverySummary(delivery),
    forwards: forwards.map(({ target, state, tries, dueAt }) => ({
      ...{ target, state, tries },
      dueAt: dueAt === undefined ? null : isoText(dueAt),
    })),
    results: delivery.results.map(({ target, kind, ok, answer, durationMs, at: endedAt }) => ({
      ...{ target, kind, ok, answer, durationMs },
      at: isoText(endedAt),
    })),
    headers: delivery.headers,
    lead: delivery.place === undefined ? undefined : utf8(leadBytes(body, delivery.place)),
    body: isUtf8(body) ? body.toString('utf8') : undefined,
    bodyBase64: isUtf8(body) ? undefined : body.toString('base64'),
  };
}

/** Writes objects to stdout; `columns` are those of CSV. */
export async function objectWriter(format: 'json' | 'ndjson' | 'csv', stdout: Output, columns?: string[]) {
  const terminal = stdout.isTTY === true;
  const writer = await recordWriter(format, streamSink(stdout), { columns, terminal });
  return {
    write: (record: object) => writer.write([{ bytes: Buffer.from(JSON.stringify(record)) }]),
    end: () => writer.end(),
  };
}
