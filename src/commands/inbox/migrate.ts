import type { Context, Outcome } from '../../context.ts';
import { noteText, UsageError } from '../../errors.ts';
import { checkServer } from '../../inbox/postgres/check-server.ts';
import { createSchema, isInbox, schemaStatements } from '../../inbox/postgres/database-schema.ts';
import { withSession } from '../../inbox/postgres/open-session.ts';
import { write } from '../../output/stdout.ts';
import { resolveInbox } from '../flags/resolve-inbox.ts';
import type { InboxMigrateOptions } from './command.ts';

export async function run(options: InboxMigrateOptions, context: Context): Promise<Outcome> {
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
