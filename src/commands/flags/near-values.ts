import type { Context } from '../../context.ts';
import { LeadsError } from '../../errors.ts';
import { foldText } from '../../lead/filter.ts';
import { fieldAt, parseLead, type RawLead } from '../../lead/raw-lead.ts';
import { nearest } from '../../messages/suggest.ts';
import type { Messages } from '../../output/messages.ts';
import { counted, grouped } from '../../output/terminal/progress.ts';
import type { Service } from '../../service/client/service.ts';
import { listLeads } from '../../service/listing/lead-pages.ts';
import type { LeadQuery } from '../../service/listing/listing-types.ts';
import { statusFieldsOf } from '../../service/listing/page-census.ts';

/** Leads that are looked at: this is a hint, and no walk. */
const mostLooked = 1000;
const mostNamed = 5;

type Asked = Pick<LeadQuery, 'status' | 'categories'>;

/**
 * Where nothing was found: which categories and statuses leads have that are near those that were asked for. However that
 * ends, what was asked for is complete by now.
 */
export async function noteNearValues(
  service: Service,
  asked: Asked,
  { globals, messages }: Pick<Context, 'globals' | 'messages'>,
): Promise<void> {
  if (globals.quiet || (asked.status === undefined && (asked.categories ?? []).length === 0)) return;
  try {
    await findNear(service, asked, messages);
  } catch (error) {
    if (!(error instanceof LeadsError)) throw error;
    const { sentenceOf } = await import('../../messages/find-message.ts');
    messages.verbose(`not known what is near: ${sentenceOf(error)}`);
  }
}

async function findNear(
  service: Service,
  { status, categories = [] }: Asked,
  messages: Pick<Messages, 'note'>,
): Promise<void> {
  const statusFields = statusFieldsOf(service.dialect);
  const [ofCategory, ofStatus] = [new Map<string, number>(), new Map<string, number>()];
  let looked = 0;
  let isPart = false;
  for await (const { leads, last } of listLeads(service, { query: {}, acceptUnproven: () => undefined })) {
    for (const lead of leads) {
      count(ofCategory, lead.category);
      count(ofStatus, statusOf(lead, statusFields));
    }
    looked += leads.length;
    isPart = looked >= mostLooked && !last;
    if (isPart) break;
  }
  const of = isPart ? ` of the first ${grouped(looked)}` : '';
  for (const category of categories) noteNear('--category', category, ofCategory, of, messages);
  if (status !== undefined) noteNear('--status', status, ofStatus, of, messages);
}

function statusOf(lead: RawLead, fields: readonly string[]): string | undefined {
  const record = parseLead(lead);
  const values = fields.map((field) => fieldAt(record, field.split('.')));
  return values.find((value) => typeof value === 'string');
}

function count(counts: Map<string, number>, value: string | undefined): void {
  if (value !== undefined) counts.set(value, (counts.get(value) ?? 0) + 1);
}

function noteNear(
  flag: string,
  typed: string,
  counts: ReadonlyMap<string, number>,
  of: string,
  messages: Pick<Messages, 'note'>,
): void {
  // Several in one flag are said elsewhere.
  if (counts.size === 0 || counts.has(typed) || typed.includes(',')) return;
  const known = [...counts.keys()].sort((a, b) => (counts.get(b) ?? 0) - (counts.get(a) ?? 0));
  const near = known.find((value) => foldText(value) === foldText(typed)) ?? nearest(typed, known);
  const named = (near === undefined ? known.slice(0, mostNamed) : [near]).map(
    (value) => `'${value}', ${counted(counts.get(value) ?? 0, 'lead', 'leads')}${of}`,
  );
  messages.note(`near ${flag} ${typed}`, `${flag} ${typed}: there is ${named.join('; ')}`);
}
