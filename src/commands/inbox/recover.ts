import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Context, Outcome } from '../../context.ts';
import { DataError, UsageError } from '../../errors.ts';
import { resolveInbox } from '../flags/resolve-inbox.ts';
import type { InboxRecoverOptions } from './options.ts';

export async function run(options: InboxRecoverOptions, context: Context): Promise<Outcome> {
  const from = await resolveInbox(options, await context.settings(), context);
  if (typeof from !== 'string') {
    throw new UsageError(`'leads inbox recover' is for files: ${from.shown} is in a database`, {
      hint: "a damaged database is restored by PostgreSQL's own means, such as a backup",
    });
  }
  const { output } = options;
  if (output === undefined) throw new UsageError('-o NEW names the new inbox');
  const to = resolve(output);
  if (existsSync(to)) {
    throw new UsageError(`${to} exists, and is not overwritten`, { hint: 'name a new file with -o' });
  }
  const { clock, messages } = context;
  if (!existsSync(from)) throw new DataError(`there is no inbox at ${from}`);
  const { recoverInbox } = await import('../../inbox/sqlite/recover-inbox.ts');
  const { deliveries, leads, unreadable, idsComplete } = await recoverInbox(from, to, clock.now());
  messages.say(`${deliveries} deliveries of ${leads} leads saved to ${to}`);
  if (unreadable > 0) {
    messages.warn(`${unreadable} numbers could not be read, each of a delivery that may be lost`);
  }
  if (!idsComplete) {
    messages.warn(
      'the list of known ids is damaged: an id whose deliveries were pruned or erased may not be known any more',
    );
  }
  return unreadable === 0 && idsComplete ? 'done' : 'problems';
}
