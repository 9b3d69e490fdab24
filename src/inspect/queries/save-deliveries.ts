import type { InboxReader, StoredDelivery } from '../../inbox/inbox.ts';
import { isObject } from '../../json/exact.ts';
import type { ByteSink } from '../../output/records/record-types.ts';
import { recordWriter } from '../../output/records/record-writer.ts';
import { deliverySummary } from '../../receiver/stored-deliveries.ts';
import { leadIn } from './delivery-row.ts';
import { filteredDeliveries } from './filtered-deliveries.ts';
import type { SaveQuery } from './query-types.ts';

/** Rows that are handed on at once. */
const rowsAtOnce = 100;

/** What a filter lets pass as a file, piece by piece; where nobody reads on it stops. */
export async function* saveDeliveries(
  inbox: Pick<InboxReader, 'list' | 'search' | 'counts' | 'extent' | 'lackingTargets'>,
  query: SaveQuery,
): AsyncGenerator<Uint8Array> {
  if (query.form === 'html') {
    const { inboxReport } = await import('./inbox-report.ts');
    const { reportHtml } = await import('../../report/report-html.ts');
    yield Buffer.from(reportHtml(await inboxReport(inbox, query)));
    return;
  }
  let pieces: Uint8Array[] = [];
  const sink: ByteSink = {
    write: (bytes) => Promise.resolve(void pieces.push(Uint8Array.from(bytes))),
    end: () => Promise.resolve(),
  };
  const writer = await recordWriter(query.form, sink, { fields: query.form === 'csv' ? columns : undefined });
  const written = (): Uint8Array => {
    const piece = Buffer.concat(pieces);
    pieces = [];
    return piece;
  };
  let rows: Uint8Array[] = [];
  const writeRows = async (): Promise<void> => {
    await writer.write(rows.map((bytes) => ({ bytes })));
    rows = [];
  };
  for await (const delivery of filteredDeliveries(inbox, query)) {
    rows.push(Buffer.from(JSON.stringify({ ...deliverySummary(delivery), ...personOf(delivery) })));
    if (rows.length < rowsAtOnce) continue;
    await writeRows();
    await writer.flush();
    yield written();
  }
  await writeRows();
  await writer.end();
  yield written();
}

function personOf(delivery: StoredDelivery): Readonly<Record<string, unknown>> {
  const lead = leadIn(delivery);
  const contact = isObject(lead?.['contact']) ? lead['contact'] : {};
  const { name = null, email = null, phone = null } = contact;
  return { name, email, phone, category: lead?.['category'] ?? null };
}

/** As `leads inbox list --json` has them, and what the list shows of the lead. */
const columns =
  'number receivedAt verdict reason detail status leadId attempt source remote method path bytes differs name email phone category'.split(
    ' ',
  );
