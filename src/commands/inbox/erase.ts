import { ask } from '../../config/prompt.ts';
import type { Context, Outcome } from '../../context.ts';
import { LeadNotFoundError, OutputError, UsageError } from '../../errors.ts';
import { findPerson, findTestLeads, type FoundPerson } from '../../inbox/erase/find-person.ts';
import { normalizedEmail, normalizedPhone, type Person } from '../../inbox/erase/person.ts';
import type { Erased, InboxReader } from '../../inbox/inbox.ts';
import { describeProblem } from '../../messages/command-line.ts';
import { outOfReachTexts } from '../../messages/inbox.ts';
import { writeJson } from '../../output/stdout.ts';
import { writeTable } from '../../output/table.ts';
import { counted } from '../../output/terminal/progress.ts';
import type { InboxEraseOptions } from './options.ts';
import { withInbox, withInboxReader } from './with-inbox.ts';

/** A number with fewer digits would match too many texts. */
const leastDigits = 5;

export async function run(options: InboxEraseOptions, context: Context): Promise<Outcome> {
  const person = personOf(options);
  const { format } = options;
  const find = (inbox: InboxReader): Promise<FoundPerson> =>
    person === undefined ? findTestLeads(inbox) : findPerson(inbox, person);
  if (options.dryRun) {
    const matches = await withInboxReader(options, context, find);
    if (format === 'json') await printJson(matches, undefined, context);
    else if (matches !== undefined) await printMatches(matches, context);
    if (matches !== undefined) announceMatches(matches, context);
    return outcomeOf(matches, person, context);
  }
  const canAsk = context.stdin.isTTY === true;
  // Test leads hold nobody's data, so that they need no confirmation.
  const isSure = options.yes || person === undefined;
  if (!isSure && !canAsk) {
    throw new UsageError('what is erased cannot be brought back: --yes confirms it', {
      hint: 'see with --dry-run what would be erased',
    });
  }
  const done = await withInbox(options, context, async (inbox) => {
    const matches = await find(inbox);
    const isNothing = matches.leads.length + matches.rejected.length === 0;
    if (!isNothing && format === 'table') await printMatches(matches, context);
    if (!isNothing && !isSure) await confirm(matches, context);
    context.signal.throwIfAborted();
    const erased = await inbox.erase({
      leadIds: person?.by === 'id' ? [person.value] : matches.leads.map(({ leadId }) => leadId),
      rejected: matches.rejected.map(({ seq }) => seq),
    });
    return { matches, erased, location: inbox.location };
  });
  if (format === 'json') await printJson(done?.matches, done?.erased, context);
  if (done !== undefined) {
    sayErased(done.matches, done.erased, context);
    requireGone(done.erased, done.location);
  }
  return outcomeOf(done?.matches, person, context);
}

/** The person that the flags name; undefined for `--test`. Throws a `UsageError` where they name nobody, or several. */
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

async function confirm(matches: FoundPerson, context: Context): Promise<void> {
  announceMatches(matches, context);
  const answer = await ask('erase this for ever? [y/N] ', context);
  if (/^y(es)?$/i.test(answer)) return;
  throw new UsageError('not confirmed: nothing was erased');
}

function requireGone({ remains }: Erased, location: string): void {
  if (remains === undefined) return;
  const { message, hint } = describeProblem(remains);
  throw new OutputError(`a copy of what was erased is still in the files of ${location}: ${message}`, {
    hint: hint ?? 'make room, or end what else uses the inbox, and run this again, which completes it',
  });
}

/** An id that was erased before is a success: nothing of it is left. */
function outcomeOf(
  matches: FoundPerson | undefined,
  person: Person | undefined,
  { messages }: Pick<Context, 'messages'>,
): Outcome {
  const size = (matches?.leads.length ?? 0) + (matches?.rejected.length ?? 0);
  if (size > 0 || matches?.wasErased === true) return 'done';
  if (person === undefined) {
    messages.say('the inbox holds no test lead');
    return 'done';
  }
  const { by, value } = person;
  const what = { id: 'the id', email: 'the e-mail address', phone: 'the phone number' }[by];
  throw new LeadNotFoundError(`the inbox has no lead, and no rejected delivery, with ${what} '${value}'`);
}

/** Places of copies that no command reaches. */
const unreachablePlaces = [
  'backups and other copies of the inbox',
  'exports, --output files and what was printed or logged',
  'the apps and commands that the lead was handed to',
];

/** A note names at most so many ids. */
const mostNamed = 5;

const iso = (ms: number): string => new Date(ms).toISOString();

/** Prints a line for each lead, and for each rejected delivery. */
async function printMatches({ leads, rejected }: FoundPerson, context: Context): Promise<void> {
  if (leads.length + rejected.length === 0) return;
  const rows = [
    ...leads.map(({ leadId, deliveries, receivedAt, isWaiting }) => [
      leadId,
      iso(receivedAt),
      String(deliveries),
      isWaiting ? 'waiting' : '',
    ]),
    ...rejected.map(({ seq, receivedAt, reason = '' }) => [
      '',
      iso(receivedAt),
      '1',
      `rejected delivery ${seq}: ${reason}`,
    ]),
  ];
  const heads = ['LEAD', 'FIRST RECEIVED', 'DELIVERIES', 'REMARK'];
  await writeTable(heads, rows, { whole: ['LEAD'] }, context);
}

/** Says on stderr what would be erased. */
function announceMatches(matches: FoundPerson, context: Context): void {
  const { leads, rejected } = matches;
  const counts = {
    leads: leads.length,
    deliveries: leads.reduce((sum, { deliveries }) => sum + deliveries, 0),
    rejected: rejected.length,
    waiting: leads.filter(({ isWaiting }) => isWaiting).length,
  };
  if (leads.length + rejected.length > 0) context.messages.say(`would be erased: ${inWords(counts)}`);
  noteMentions(matches, context);
}

function sayErased(matches: FoundPerson, erased: Erased, { messages, ...context }: Context): void {
  const isNothing = erased.leads + erased.deliveries + erased.rejected === 0;
  if (isNothing && matches.wasErased) messages.say('the lead was erased before; nothing else of it is here');
  if (!isNothing) {
    messages.say(`erased: ${inWords(erased)}`);
    const places = [...unreachablePlaces, ...placesOf(erased)];
    messages.say(`not reached from here: ${places.join('; ')}`);
  }
  noteMentions(matches, { messages, ...context });
}

const placesOf = ({ outOfReach }: Erased): readonly string[] =>
  outOfReach.map((place) => outOfReachTexts[place]);

/** Prints one document. `erased` is undefined for a dry run, `matches` where there is no inbox. */
async function printJson(
  matches: FoundPerson | undefined,
  erased: Erased | undefined,
  { stdout }: Context,
): Promise<void> {
  const { leads = [], rejected = [], mentionedIn = [], wasErased = false } = matches ?? {};
  await writeJson(stdout, {
    dryRun: erased === undefined,
    leads: leads.map(({ leadId: id, deliveries, receivedAt, isWaiting: waiting }) => ({
      id,
      deliveries,
      firstReceivedAt: iso(receivedAt),
      waiting,
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
            waiting: erased.waiting,
          },
    remains: erased?.remains === undefined ? null : describeProblem(erased.remains).message,
    outOfReach: [...unreachablePlaces, ...(erased === undefined ? [] : placesOf(erased))],
  });
}

/** Names the leads that mention the person outside of their contact: they stay. */
function noteMentions({ mentionedIn }: FoundPerson, { messages }: Pick<Context, 'messages'>): void {
  if (mentionedIn.length === 0) return;
  const names = mentionedIn.slice(0, mostNamed).map((id) => `'${id}'`);
  const more = mentionedIn.length > mostNamed ? `, and ${mentionedIn.length - mostNamed} more` : '';
  const some = counted(mentionedIn.length, 'other lead has', 'other leads have');
  const stay = mentionedIn.length === 1 ? 'stays' : 'stay';
  messages.note('mentioned', `${some} it outside of the contact, and ${stay}: ${names.join(', ')}${more}`);
}

function inWords({
  leads,
  deliveries,
  rejected,
  waiting,
}: Pick<Erased, 'leads' | 'deliveries' | 'rejected' | 'waiting'>): string {
  const parts = [
    `${counted(leads, 'lead', 'leads')} with ${counted(deliveries, 'delivery', 'deliveries')}`,
    counted(rejected, 'rejected delivery', 'rejected deliveries'),
    `forwards of ${counted(waiting, 'lead', 'leads')} cancelled`,
  ];
  return parts.join(', ');
}
