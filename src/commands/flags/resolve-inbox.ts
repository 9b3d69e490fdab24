import { resolve } from 'node:path';
import type { Settings } from '../../config/load-settings.ts';
import type { Context } from '../../context.ts';
import { ConfigError, noteText, type Problem, UsageError } from '../../errors.ts';
import type { InboxLocation } from '../../inbox/open-inbox.ts';
import { shellWord } from '../../front.ts';
import type { InboxFlags } from './shared-flags.ts';
import { ownInbox } from '../../config/directories.ts';
import { readSecrets } from './flag-values.ts';

type InboxContext = Pick<Context, 'env' | 'platform' | 'paths' | 'stdin' | 'messages'>;

/** Whether a flag or `LEADS_INBOX` names an inbox; otherwise it is the profile's. */
export const isInboxNamed = ({ inbox }: InboxFlags, env: Context['env']): boolean =>
  (inbox ?? inEnvironment(env)) !== undefined;

/**
 * The inbox that `--inbox` or `LEADS_INBOX` names, or the profile's own in the data directory. Throws a `ConfigError` for a
 * URL that is not right.
 */
export async function resolveInbox(
  flags: InboxFlags,
  { profile }: Pick<Settings, 'profile'>,
  context: InboxContext,
): Promise<InboxLocation> {
  const { env, paths, messages } = context;
  const typed = flags.inbox ?? inEnvironment(env);
  if (typed === undefined) return ownInbox(profile, paths);
  const file = typed.startsWith('@') ? typed.slice(1) : undefined;
  const place = file === undefined ? typed : await urlOfFile(file, context);
  if (place === ':memory:') return place;
  const [, scheme] = /^([a-z][a-z0-9+.-]+):\/\//i.exec(place) ?? [];
  if (scheme === undefined) return resolve(place);
  if (!/^postgres(ql)?$/i.test(scheme)) {
    // The URL is not quoted, since it may hold a password.
    const message = `${flags.inbox === undefined ? 'LEADS_INBOX' : '--inbox'} is a URL of ${scheme}://`;
    const hint = 'it must be a file, :memory: or postgres://HOST/DATABASE';
    throw flags.inbox === undefined ? new ConfigError(message, { hint }) : new UsageError(message, { hint });
  }
  const { databaseLocation } = await import('../../inbox/postgres/connection/database-location.ts');
  const options = {
    env,
    platform: context.platform,
    warn: (warning: Problem) => messages.warn(noteText(warning)),
  };
  const location = { ...databaseLocation(place, options), file };
  if (file === undefined && flags.inbox !== undefined && location.url.password !== undefined) {
    messages.note(
      'inbox-password',
      'the password in --inbox can be seen by other users of this machine: --inbox @FILE, LEADS_INBOX and ~/.pgpass hide it',
    );
  }
  return location;
}

/** The environment for programs that are started, without the variables that may hold the password of this inbox. */
export function withoutInboxPassword({ inbox }: InboxFlags, env: Context['env']): Context['env'] {
  const place = inbox ?? inEnvironment(env) ?? '';
  if (!/^(@|postgres(ql)?:\/\/(?![^/@]*:[^/@]+@))/i.test(place)) return env;
  return Object.fromEntries(Object.entries(env).filter(([name]) => !/^PGPASS(WORD|FILE)$/.test(name)));
}

/** The flags that name the same inbox, for a command line in a message; they start with a space. */
export function inboxWords({ inbox }: InboxFlags, location: string): string {
  if (inbox === undefined) return '';
  // The location has no password, which the flag may have.
  return ` --inbox ${shellWord(/^postgres(ql)?:/i.test(inbox) ? location : inbox)}`;
}

const inEnvironment = (env: Context['env']): string | undefined => env['LEADS_INBOX']?.trim() || undefined;

async function urlOfFile(file: string, context: Pick<Context, 'stdin'>): Promise<string> {
  const [secret] = await readSecrets([file], context);
  const url = secret?.reveal().trim() ?? '';
  if (/^postgres(ql)?:\/\//i.test(url)) return url;
  throw new ConfigError(
    `--inbox: ${file === '-' ? 'stdin' : file} does not hold a URL such as postgres://HOST/DATABASE`,
  );
}
