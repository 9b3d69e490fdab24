import { ask } from '../../config/prompt.ts';
import type { Context, Outcome } from '../../context.ts';
import { describeProblem, LeadNotFoundError, OutputError, UsageError } from '../../errors.ts';
import {
  findPerson,
  findTestLeads,
  type FoundPerson,
  normalizedEmail,
  normalizedPhone,
  type Person,
} from '../../inbox/find-person.ts';
import type { Erased, ErasedCounts, Inbox, InboxReader } from '../../inbox/inbox.ts';
import { writeJson } from '../../output/stdout.ts';
import { writeTable } from '../../output/table.ts';
import { counted } from '../../output/terminal/progress.ts';
import type { InboxEraseOptions } from './command.ts';
import { failIfNoneYet, withInbox, withInboxReader } from '../flags/resolve-inbox.ts';

/** A number with fewer digits would match too many texts. */
const leastDigits = 5;

export async function run(options: InboxEraseOptions, context: Context): Promise<Outcome> {
  const person = personOf(options);
  const { dryRun: isDryRun, format, yes } = options;
  // Test leads hold no person's data, and are erased without asking.
  const needsConfirmation = !isDryRun && !yes && person !== undefined;
  if (needsConfirmation && context.stdin.isTTY !== true) {
    throw new UsageError('what is erased cannot be brought back: --yes confirms it', {
      hint: 'see with --dry-run what would be erased',
    });
  }
  const find = async (inbox: InboxReader): Promise<FoundPerson> => {
    const matches = await (person === undefined ? findTestLeads(inbox) : findPerson(inbox, person));
    if (format === 'table') await printMatches(matches, context);
    if (isDryRun || needsConfirmation) announceMatches(matches, context);
    return matches;
  };
  let matches: FoundPerson = { leads: [], rejected: [], mentionedIn: [], wasErased: false };
  let erased: Erased | undefined;
  const missing = person === undefined ? { ifNoneYet: () => undefined } : failIfNoneYet;
  if (isDryRun) matches = (await withInboxReader(options, context, find, missing)) ?? matches;
  else {
    const findAndErase = async (inbox: Inbox): Promise<Erased> => {
      matches = await find(inbox);
      if (needsConfirmation && sizeOf(matches) > 0) await confirm(context);
      context.signal.throwIfAborted();
      return inbox.erase({
        // An id that came only in rejected deliveries is that of no lead, and is erased as well.
        leadIds: person?.by === 'id' ? [person.value] : matches.leads.map(({ leadId }) => leadId),
        rejected: matches.rejected.map(({ seq }) => seq),
      });
    };
    erased = await withInbox(options, context, findAndErase, missing);
  }
  if (format === 'json') await printJson(matches, erased, context);
  if (erased !== undefined) sayErased(matches, erased, context);
  return outcomeOf(matches, person, context);
}

/** Reads the person of the flags; undefined for `--test`. Throws a `UsageError` where they name no person, or several. */
function personOf({ id, email, phone, test }: InboxEraseOptions): Person | undefined {
  const persons = Object.entries({ id, email, phone }).flatMap(([by, value]) =>
    value === undefined ? [] : [{ by: by as Person['by'], value }],
  );
  const [person, ...more] = persons;
  if (test && person === undefined) return undefined;
  if (person === undefined || test || more.length > 0) {
    throw new UsageError('give one of --id, --email, --phone and --test', {
      hint: "such as 'leads inbox erase --email ada@example.com --dry-run'",
    });
  }
  const { by, value } = person;
  if (by === 'email' && !/^[^\s@]+@[^\s@]+$/.test(normalizedEmail(value))) {
    throw new UsageError(`--email '${value}' is no e-mail address`);
  }
  if (by === 'phone' && normalizedPhone(value).length < leastDigits) {
    throw new UsageError(`--phone '${value}' has fewer than ${leastDigits} digits`);
  }
  return person;
}

async function confirm(context: Context): Promise<void> {
  const answer = await ask('erase this for ever? [y/N] ', context);
  if (/^y(es)?$/i.test(answer)) return;
  throw new UsageError('not confirmed: nothing was erased');
}

const sizeOf = ({ leads, rejected }: Pick<FoundPerson, 'leads' | 'rejected'>): number =>
  leads.length + rejected.length;

/** An id that was erased before is a success: nothing of it is left. */
function outcomeOf(
  matches: FoundPerson,
  person: Person | undefined,
  { messages }: Pick<Context, 'messages'>,
): Outcome {
  if (sizeOf(matches) > 0 || matches.wasErased) return 'done';
  if (person === undefined) {
    messages.say('the inbox holds no test lead');
    return 'done';
  }
  const { by, value } = person;
  const name = { id: 'the id', email: 'the e-mail address', phone: 'the phone number' }[by];
  throw new LeadNotFoundError(`the inbox has no lead, and no rejected delivery, with ${name} '${value}'`);
}

/** Places of copies that no command reaches. */
const unreachablePlaces = [
  'backups and other copies of the inbox',
  'exports, --output files and what was printed or logged',
  'the apps and commands that the lead was handed to',
];

const mostNamed = 5;

const iso = (ms: number): string => new Date(ms).toISOString();

async function printMatches({ leads, rejected }: FoundPerson, context: Context): Promise<void> {
  if (leads.length + rejected.length === 0) return;
  const rows = [
    ...leads.map(({ leadId, deliveries, receivedAt, isWaiting }) => {
      return [leadId, iso(receivedAt), String(deliveries), isWaiting ? 'waiting' : ''];
    }),
    ...rejected.map(({ seq, receivedAt, reason = '' }) => {
      return ['', iso(receivedAt), '1', `rejected delivery ${seq}: ${reason}`];
    }),
  ];
  const heads = ['LEAD', 'FIRST RECEIVED', 'DELIVERIES', 'REMARK'];
  await writeTable(heads, rows, { cutLast: ['LEAD'] }, context);
}

function announceMatches(matches: FoundPerson, { messages }: Context): void {
  const { leads, rejected } = matches;
  const counts = {
    leads: leads.length,
    deliveries: leads.reduce((sum, { deliveries }) => sum + deliveries, 0),
    rejected: rejected.length,
    waiting: leads.filter(({ isWaiting }) => isWaiting).length,
  };
  if (sizeOf(matches) > 0) messages.say(`would be erased: ${inWords(counts)}`);
  noteMentions(matches, messages);
}

/** Throws an `OutputError` where a copy stays in the files of the inbox. */
function sayErased(matches: FoundPerson, erased: Erased, { messages }: Context): void {
  const isNothing = erased.leads + erased.deliveries + erased.rejected === 0;
  if (isNothing && matches.wasErased) messages.say('the lead was erased before; nothing else of it is here');
  if (!isNothing) {
    messages.say(`erased: ${inWords(erased)}`);
    messages.say(`not reached from here: ${placesOf(erased).join('; ')}`);
  }
  noteMentions(matches, messages);
  if (erased.remains === undefined) return;
  const { message, hint } = describeProblem(erased.remains);
  throw new OutputError(`a copy of what was erased is still in the files of the inbox: ${message}`, {
    hint: hint ?? 'make room, or end what else uses the inbox, and run this again, which completes it',
  });
}

const placesOf = (erased: Erased | undefined): readonly string[] => [
  ...unreachablePlaces,
  ...(erased?.outOfReach ?? []),
];

/** Prints one document. `erased` is undefined for a dry run. */
async function printJson(
  { leads, rejected, mentionedIn, wasErased }: FoundPerson,
  erased: Erased | undefined,
  { stdout }: Context,
): Promise<void> {
  const { remains, outOfReach: _, ...counts } = erased ?? {};
  await writeJson(stdout, {
    dryRun: erased === undefined,
    leads: leads.map(({ leadId, deliveries, receivedAt, isWaiting }) => {
      return { id: leadId, deliveries, firstReceivedAt: iso(receivedAt), waiting: isWaiting };
    }),
    rejected: rejected.map(({ seq, receivedAt, reason = null }) => {
      return { number: seq, receivedAt: iso(receivedAt), reason };
    }),
    mentionedIn,
    erasedBefore: wasErased,
    erased: erased === undefined ? null : counts,
    remains: remains?.message ?? null,
    outOfReach: placesOf(erased),
  });
}

/** Names the leads that mention the person outside of their contact: they stay. */
function noteMentions({ mentionedIn }: FoundPerson, messages: Context['messages']): void {
  if (mentionedIn.length === 0) return;
  const names = mentionedIn.slice(0, mostNamed).map((id) => `'${id}'`);
  const more = mentionedIn.length > mostNamed ? `, and ${mentionedIn.length - mostNamed} more` : '';
  const some = counted(mentionedIn.length, 'other lead has', 'other leads have');
  const stay = mentionedIn.length === 1 ? 'stays' : 'stay';
  messages.note('mentioned', `${some} it outside of the contact, and ${stay}: ${names.join(', ')}${more}`);
}

function inWords({ leads, deliveries, rejected, waiting }: ErasedCounts): string {
  return [
    `${counted(leads, 'lead', 'leads')} with ${counted(deliveries, 'delivery', 'deliveries')}`,
    counted(rejected, 'rejected delivery', 'rejected deliveries'),
    `forwards of ${counted(waiting, 'lead', 'leads')} cancelled`,
  ].join(', ');
}
