import type { Context } from '../../context.ts';
import { DataError } from '../../errors.ts';
import { readCreatedAt } from '../../lead/raw-lead.ts';
import { isTestId } from '../../lead/test-id.ts';
import { openService } from '../../service/client/service.ts';
import type { Evidence } from '../../service/listing/incomplete-error.ts';
import { listLeads } from '../../service/listing/lead-pages.ts';
import { borderMs } from '../../statement/statement-format.ts';
import { lineOfLead, recordIn, type Wanted } from './lead-line.ts';
import type { SortedLines } from './sorted-lines.ts';

/**
 * A line for each lead that was created in the period, or within a day of it, as the service lists them, and what showed that
 * the list was whole. Throws an
 * `IncompleteError` where the list is not proven complete, and a `DataError` for a lead without an id or a time.
 */
export async function collectListed(lines: SortedLines, wanted: Wanted, context: Context): Promise<Evidence> {
  const { since, until } = wanted.period;
  const around = { since: since - borderMs, until: until + borderMs };
  const listing = listLeads(await openService(context), { query: around });
  for await (const { leads } of listing) {
    const dated = leads.map(({ id, createdAt, bytes }) => {
      const at = readCreatedAt(createdAt);
      if (id === undefined || at === undefined) throw undated(id);
      return { leadId: id, at, bytes };
    });
    const near = dated.filter(
      ({ leadId, at }) => at >= around.since && at < around.until && !isTestId(leadId),
    );
    lines.add(near.map(({ bytes, ...lead }) => lineOfLead({ ...lead, record: recordIn(bytes) }, wanted)));
  }
  const { completion } = listing;
  if (completion?.kind !== 'complete' || completion.evidence === 'lone-page') {
    throw new DataError('the service gave one page, and nothing shows that it is the whole list', {
      hint: "'leads doctor' finds out how it pages",
    });
  }
  return completion.evidence;
}

const undated = (id: string | undefined): DataError =>
  new DataError(
    id === undefined
      ? 'the service lists a lead without an id: a statement of its list would leave it out'
      : `the service lists the lead ${id} without a time of creation: it is in no period`,
  );
