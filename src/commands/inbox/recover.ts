import { existsSync, readdirSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import type { Context, Outcome } from '../../context.ts';
import { DataError, UsageError } from '../../errors.ts';
import { resolveInbox } from '../flags/resolve-inbox.ts';
import type { LostPart } from '../../inbox/sqlite/recover-inbox.ts';
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
  const [{ recoverInbox }, { hasLog }] = await Promise.all([
    import('../../inbox/sqlite/recover-inbox.ts'),
    import('../../inbox/sqlite/database-file.ts'),
  ]);
  const { deliveries, leads, unreadable, lost } = await recoverInbox(from, to, clock.now());
  messages.say(`${deliveries} deliveries of ${leads} leads saved to ${to}`);
  if (unreadable > 0) {
    messages.warn(`${unreadable} numbers could not be read, each of a delivery that may be lost`);
  }
  for (const part of lost) messages.warn(lostParts[part]);
  const left = leftBeside(to);
  if (left.length > 0) messages.warn(`copies of a run that was killed, to be removed: ${left.join(', ')}`);
  // The database would replay it over whatever file has that name.
  if (hasLog(from)) {
    messages.say(
      `use it with --inbox ${to}; before it gets the name ${from}, remove ${from}-wal and ${from}-shm, which would be written over it`,
    );
  }
  return unreadable === 0 && lost.size === 0 ? 'done' : 'problems';
}

/** Another run may still be at work on one of them: they are named, not removed. */
function leftBeside(to: string): readonly string[] {
  const [directory, name] = [dirname(to), `${basename(to)}.`];
  const isLeft = (file: string): boolean =>
    file.startsWith(name) && /^[\da-f]{12}\.tmp(?:-\w+)?$/.test(file.slice(name.length));
  let files: readonly string[] = [];
  try {
    files = readdirSync(directory);
  } catch {
    // It may be written and not listed. The inbox is saved: what was left there is worth a warning and no more.
  }
  return files
    .filter(isLeft)
    .sort()
    .map((file) => join(directory, file));
}

/** What a person has to know of each part that is damaged. */
const lostParts: Readonly<Record<LostPart, string>> = {
  last: 'what tells the number of the last delivery is damaged: the last deliveries may be lost',
  ids: 'the list of known ids is damaged: an id whose deliveries were pruned or erased may not be known any more',
  work: 'the list of outstanding leads is damaged: a lead that was outstanding may be lost for its target, or be handed to it again',
  nonces: 'the list of nonces is damaged: a delivery may be replayed with another body',
  results: 'what targets answered is not complete',
  counts: 'counts of deliveries that were pruned before now are not complete',
};
