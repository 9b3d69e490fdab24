import type { Context } from '../../../context.ts';
import type { Erased } from '../../../inbox/erase/erasure.ts';
import type { FoundPerson } from '../../../inbox/erase/find-person.ts';
import { renderTable } from '../../../output/table/table.ts';
import { paletteFor } from '../../../output/terminal/colour.ts';
import { counted } from '../../../output/terminal/progress.ts';
import { terminalWidth } from '../../../output/terminal/terminal-width.ts';
import { write } from '../../../output/write-stream.ts';

/** Where a copy may be that no command reaches. */
const everywhere = [
  'backups and other copies of the inbox',
  'exports, --output files and what was printed or logged',
  'the apps and commands that the lead was handed to',
];

/** Ids that are named in a note. */
const mostNamed = 5;

const iso = (ms: number): string => new Date(ms).toISOString();

/** A line for each lead, and for each rejected delivery. */
export async function drawFound({ leads, rejected }: FoundPerson, context: Context): Promise<void> {
  if (leads.length + rejected.length === 0) return;
  const { stdout } = context;
  const { dim } = await paletteFor(stdout, context);
  const rows = [
    ...leads.map(({ leadId, deliveries, receivedAt, isPending }) => [
      leadId,
      iso(receivedAt),
      String(deliveries),
      isPending ? 'outstanding' : '',
    ]),
    ...rejected.map(({ seq, receivedAt, reason = '' }) => [
      '',
      iso(receivedAt),
      '1',
      `rejected delivery ${seq}: ${reason}`,
    ]),
  ];
  const heads = ['LEAD', 'FIRST RECEIVED', 'DELIVERIES', 'REMARK'];
  const width = terminalWidth(stdout);
  await write(stdout, renderTable(heads, rows, { whole: ['LEAD'], width, head: dim }));
}

/** What would be erased. */
export function sayFound(found: FoundPerson, context: Context): void {
  const { leads, rejected } = found;
  const counts = {
    leads: leads.length,
    deliveries: leads.reduce((sum, { deliveries }) => sum + deliveries, 0),
    rejected: rejected.length,
    pending: leads.filter(({ isPending }) => isPending).length,
  };
  if (leads.length + rejected.length > 0) context.messages.say(`would be erased: ${inWords(counts)}`);
  sayElsewhere(found, context);
}

export function sayErased(found: FoundPerson, erased: Erased, { messages, ...context }: Context): void {
  const isNothing = erased.leads + erased.deliveries + erased.rejected === 0;
  if (isNothing && found.wasErased) messages.say('the lead was erased before; nothing else of it is here');
  if (!isNothing) {
    messages.say(`erased: ${inWords(erased)}`);
    const places = [...everywhere, ...erased.outOfReach];
    messages.say(`not reached from here: ${places.join('; ')}`);
  }
  sayElsewhere(found, { messages, ...context });
}

/** One document. `erased` is undefined for a dry run, `found` where there is no inbox. */
export async function printJson(
  found: FoundPerson | undefined,
  erased: Erased | undefined,
  { stdout }: Context,
): Promise<void> {
  const { leads = [], rejected = [], mentionedIn = [], wasErased = false } = found ?? {};
  const document = {
    dryRun: erased === undefined,
    leads: leads.map(({ leadId: id, deliveries, receivedAt, isPending: pending }) => ({
      id,
      deliveries,
      firstReceivedAt: iso(receivedAt),
      pending,
    })),
    rejected: rejected.map(({ seq: number, receivedAt, reason }) => ({
      number,
      receivedAt: iso(receivedAt),
      reason: reason ?? null,
    })),
    mentionedIn,
    erasedBefore: wasErased,
    erased:
      erased === undefined
        ? null
        : {
            leads: erased.leads,
            deliveries: erased.deliveries,
            rejected: erased.rejected,
            pending: erased.pending,
          },
    remains: erased?.remains ?? null,
    outOfReach: [...everywhere, ...(erased?.outOfReach ?? [])],
  };
  await write(stdout, `${JSON.stringify(document)}\n`);
}

function sayElsewhere({ mentionedIn }: FoundPerson, { messages }: Pick<Context, 'messages'>): void {
  if (mentionedIn.length === 0) return;
  const named = mentionedIn.slice(0, mostNamed).map((id) => `'${id}'`);
  const more = mentionedIn.length > mostNamed ? `, and ${mentionedIn.length - mostNamed} more` : '';
  const some = counted(mentionedIn.length, 'other lead has', 'other leads have');
  const stay = mentionedIn.length === 1 ? 'stays' : 'stay';
  messages.note('mentioned', `${some} it outside of the contact, and ${stay}: ${named.join(', ')}${more}`);
}

function inWords({
  leads,
  deliveries,
  rejected,
  pending,
}: Pick<Erased, 'leads' | 'deliveries' | 'rejected' | 'pending'>): string {
  const parts = [
    `${counted(leads, 'lead', 'leads')} with ${counted(deliveries, 'delivery', 'deliveries')}`,
    counted(rejected, 'rejected delivery', 'rejected deliveries'),
    `${counted(pending, 'pending forward', 'pending forwards')} cancelled`,
  ];
  return parts.join(', ');
}
