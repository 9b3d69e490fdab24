import { ask } from '../../../config/prompt.ts';
import type { Context } from '../../../context.ts';
import { LeadNotFoundError, OutputError, UsageError } from '../../../errors.ts';
import type { Erased } from '../../../inbox/erase/erasure.ts';
import { findPerson, type FoundPerson } from '../../../inbox/erase/find-person.ts';
import { normalizedEmail, normalizedPhone, type Person } from '../../../inbox/erase/person.ts';
import type { Outcome } from '../../flags/command-spec.ts';
import type { InboxEraseOptions } from '../options.ts';
import { withInbox, withInboxReader } from '../with-inbox.ts';
import { drawFound, printJson, sayErased, sayFound } from './print-erasure.ts';

/** Shorter numbers would be found in too much. */
const leastDigits = 5;

export async function run(options: InboxEraseOptions, context: Context): Promise<Outcome> {
  const person = personOf(options);
  const { format } = options;
  if (options.dryRun) {
    const found = await withInboxReader(options, context, (inbox) => findPerson(inbox, person));
    if (format === 'json') await printJson(found, undefined, context);
    else if (found !== undefined) await drawFound(found, context);
    if (found !== undefined) sayFound(found, context);
    return outcomeOf(found, person);
  }
  const canAsk = context.stdin.isTTY === true;
  if (!options.yes && !canAsk) {
    throw new UsageError('what is erased cannot be brought back: --yes confirms it', {
      hint: 'see with --dry-run what would be erased',
    });
  }
  const done = await withInbox(options, context, async (inbox) => {
    const found = await findPerson(inbox, person);
    const isNothing = found.leads.length + found.rejected.length === 0;
    if (!isNothing && format === 'table') await drawFound(found, context);
    if (!isNothing && !options.yes) await confirm(found, context);
    context.signal.throwIfAborted();
    const erased = await inbox.erase({
      leadIds: person.by === 'id' ? [person.value] : found.leads.map(({ leadId }) => leadId),
      rejected: found.rejected.map(({ seq }) => seq),
    });
    return { found, erased, location: inbox.location };
  });
  if (format === 'json') await printJson(done?.found, done?.erased, context);
  if (done !== undefined) {
    sayErased(done.found, done.erased, context);
    requireGone(done.erased, done.location);
  }
  return outcomeOf(done?.found, person);
}

/** Throws a `UsageError` for flags that name nobody, or several. */
function personOf({ id, email, phone }: InboxEraseOptions): Person {
  const given = Object.entries({ id, email, phone }).flatMap(([by, value]) =>
    value === undefined ? [] : [{ by: by as Person['by'], value }],
  );
  const [person, ...more] = given;
  if (person === undefined || more.length > 0) {
    throw new UsageError('give one of --id, --email and --phone', {
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

async function confirm(found: FoundPerson, context: Context): Promise<void> {
  sayFound(found, context);
  const answer = await ask('erase this for ever? [y/N] ', context);
  if (/^y(es)?$/i.test(answer)) return;
  throw new UsageError('not confirmed: nothing was erased');
}

function requireGone({ remains }: Erased, location: string): void {
  if (remains === undefined) return;
  throw new OutputError(`a copy of what was erased is still in the files of ${location}: ${remains}`, {
    hint: 'end what else uses the inbox, and run this again: each command that writes to the inbox tries it again first',
  });
}

/** An id that was erased before is as it was asked for. */
function outcomeOf(found: FoundPerson | undefined, { by, value }: Person): Outcome {
  const size = (found?.leads.length ?? 0) + (found?.rejected.length ?? 0);
  if (size > 0 || found?.wasErased === true) return 'done';
  const what = { id: 'the id', email: 'the e-mail address', phone: 'the phone number' }[by];
  throw new LeadNotFoundError(`the inbox has no lead, and no rejected delivery, with ${what} '${value}'`);
}
