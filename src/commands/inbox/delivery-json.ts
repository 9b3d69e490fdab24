import { isUtf8 } from 'node:buffer';
import type { LackingTarget, StoredDelivery } from '../../inbox/inbox.ts';
import { leadBytes } from '../../lead/raw-lead.ts';
import { utf8 } from '../../json/bytes.ts';
import { deliverySummary, isoText, summaryFields } from '../../receiver/stored-deliveries.ts';
import { recordWriter, streamSink } from '../../output/records/record-writer.ts';
import type { Output } from '../../host.ts';

/**
 * The same with headers and body, and the lead where it is only a part of the body; a body that is no text is in
 * `bodyBase64`. `lacking`: targets that have not had the lead.
 */
export function deliveryDetails(delivery: StoredDelivery, lacking: readonly LackingTarget[]) {
  const body = Buffer.from(delivery.body);
  return {
    ...deliverySummary(delivery),
    outstanding: lacking.map(({ target, tries, dueAt, dead }) => ({
      target,
      tries,
      dueAt: dueAt === undefined ? null : isoText(dueAt),
      dead,
    })),
    results: delivery.results.map(({ target, kind, ok, answer, durationMs, at }) => ({
      target,
      kind,
      ok,
      answer,
      durationMs,
      at: isoText(at),
    })),
    headers: delivery.headers,
    lead: delivery.place === undefined ? undefined : utf8(leadBytes(body, delivery.place)),
    body: isUtf8(body) ? body.toString('utf8') : undefined,
    bodyBase64: isUtf8(body) ? undefined : body.toString('base64'),
  };
}

/** Prints summaries of deliveries as they come. */
export async function objectWriter(format: 'json' | 'ndjson' | 'csv', stdout: Output) {
  const terminal = stdout.isTTY === true;
  const writer = await recordWriter(format, streamSink(stdout), { columns: summaryFields, terminal });
  return {
    write: (record: object) => writer.write([{ bytes: Buffer.from(JSON.stringify(record)) }]),
    end: () => writer.end(),
  };
}
