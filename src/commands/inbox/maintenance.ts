import type { Context, Outcome } from '../../context.ts';
import { noteText, UsageError } from '../../errors.ts';
import { checkServer } from '../../inbox/postgres/check-server.ts';
import { createSchema, isInbox, schemaStatements } from '../../inbox/postgres/database-schema.ts';
import { withSession } from '../../inbox/postgres/open-session.ts';
import { write } from '../../output/stdout.ts';
import { resolveInbox, withInbox } from '../flags/resolve-inbox.ts';
import type { InboxMigrateOptions, InboxPruneOptions } from './command.ts';

/** Makes the schema of an inbox in PostgreSQL; with `--print`, prints the SQL that makes it. */
export async function migrateInbox(options: InboxMigrateOptions, context: Context): Promise<Outcome> {
  const location = await resolveInbox(options, await context.settings(), context);
  if (typeof location === 'string') {
    throw new UsageError(`'leads inbox migrate' is for databases, and ${location} is a file`, {
      hint: 'name one by --inbox postgres://HOST/DATABASE; a file is made when it is opened',
    });
  }
  const { url, shown: name } = location;
  const { stdout, messages } = context;
  await withSession(location, async (session) => {
    await checkServer(session, location, (warning) => messages.warn(noteText(warning)));
    if (await isInbox(session, location)) {
      messages.say(`the inbox ${name} is there already`);
    } else if (options.print) {
      const statements = ['BEGIN', ...(await schemaStatements(session, url.schema)), 'COMMIT'];
      await write(stdout, statements.map((text) => `${text};\n`).join(''));
    } else {
      await createSchema(session, location);
      messages.say(`made the inbox ${name}`);
    }
  });
  return 'done';
}

/** Drops deliveries that are older than `--before`, and then gives their room back to the system. */
export async function pruneInbox(options: InboxPruneOptions, context: Context): Promise<Outcome> {
  const { before } = options;
  if (before === undefined) {
    throw new UsageError('--before says what goes: a time, or how old', {
      hint: "such as 'leads inbox prune --before 30d'",
    });
  }
  const { messages, clock } = context;
  const { zone } = await context.settings();
  const time = before.at(clock.now(), zone);
  if (time > clock.now())
    throw new UsageError(`--before: '${before.text}' is in the future, which is all deliveries`, {
      hint: '--before now drops all that were received until now',
    });
  await withInbox(options, context, async (inbox) => {
    const dropped = await inbox.prune(time);
    const notCompacted = dropped > 0 ? await inbox.compact() : undefined;
    const deliveries = dropped === 1 ? 'delivery' : 'deliveries';
    messages.say(`${dropped} ${deliveries} dropped; the ids of their leads stay known`);
    if (notCompacted === undefined) return;
    // A process that uses the inbox now may be gone at the next prune, so that is no reason to warn.
    if (notCompacted.kind === 'inbox-in-use') messages.say(noteText(notCompacted));
    else messages.warn(noteText(notCompacted));
  });
  return 'done';
}
