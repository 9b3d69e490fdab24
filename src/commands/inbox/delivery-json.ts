import { isUtf8 } from 'node:buffer';
import type { LackingTarget, StoredDelivery } from '../../inbox/inbox.ts';
import { leadBytes } from '../../inbox/lead-bytes.ts';
import { utf8 } from '../../json/bytes.ts';
import { recordWriter, streamSink } from '../../output/records/record-writer.ts';
import type { Output } from '../../host.ts';

const iso = (ms: number): string => new Date(ms).toISOString();

/** A delivery as one JSON object, without headers and body. */
export const deliverySummary = (delivery: StoredDelivery): Record<string, unknown> => ({
  number: delivery.seq,
  receivedAt: iso(delivery.receivedAt),
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
 * `bodyBase64`. `lacking`: targets that have not had the lead.
 */
export function deliveryDetails(
  delivery: StoredDelivery,
  lacking: readonly LackingTarget[],
): Record<string, unknown> {
  const body = Buffer.from(delivery.body);
  return {
    ...deliverySummary(delivery),
    outstanding: lacking.map(({ target, tries, dueAt, dead }) => ({
      target,
      tries,
      dueAt: dueAt === undefined ? null : iso(dueAt),
      dead,
    })),
    results: delivery.results.map(({ target, kind, ok, answer, durationMs, at }) => ({
      target,
      kind: kind ?? null,
      ok,
      answer,
      durationMs,
      at: iso(at),
    })),
    headers: delivery.headers,
    lead: delivery.place === undefined ? undefined : utf8(leadBytes(body, delivery.place)),
    ...(isUtf8(body) ? { body: body.toString('utf8') } : { bodyBase64: body.toString('base64') }),
  };
}

/** Prints objects as they come. */
export async function objectWriter(format: 'json' | 'ndjson' | 'csv', stdout: Output) {
  const writer = await recordWriter(format, streamSink(stdout), { terminal: stdout.isTTY === true });
  return {
    write: (record: object) => writer.write([{ bytes: Buffer.from(JSON.stringify(record)) }]),
    end: () => writer.end(),
  };
}
