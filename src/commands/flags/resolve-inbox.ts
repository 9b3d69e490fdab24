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
  const place = flags.inbox ?? inEnvironment(env);
  if (place === undefined) return ownInbox(profile, paths);
  const file = place.startsWith('@') ? place.slice(1) : undefined;
  const pathOrUrl = file === undefined ? place : await urlOfFile(file, context);
  if (pathOrUrl === ':memory:') return pathOrUrl;
  const [, scheme] = /^([a-z][a-z0-9+.-]+):\/\//i.exec(pathOrUrl) ?? [];
  if (scheme === undefined) return resolve(pathOrUrl);
  if (!/^postgres(ql)?$/i.test(scheme)) {
    // The URL is not quoted, since it may hold a password.
    const message = `${flags.inbox === undefined ? 'LEADS_INBOX' : '--inbox'} is a URL of ${scheme}://`;
    const hint = 'it must be a file, :memory: or postgres://HOST/DATABASE';
    throw flags.inbox === undefined ? new ConfigError(message, { hint }) : new UsageError(message, { hint });
  }
  const { databaseLocation } = await import('../../inbox/postgres/connection/database-location.ts');
  const warn = (warning: Problem): void => messages.warn(noteText(warning));
  const location = { ...databaseLocation(pathOrUrl, { env, platform: context.platform, warn }), file };
  if (file === undefined && flags.inbox !== undefined && location.url.password !== undefined) {
    messages.note(
      'inbox-password',
      'the password in --inbox can be seen by other users of this machine: --inbox @FILE, LEADS_INBOX and ~/.pgpass hide it',
    );
  }
  return location;
}

/**
 * The environment for programs that are started. It lacks the variables that give the password of this inbox: a database whose
 * URL is in a file, or holds no password, takes it from `PGPASSWORD` or from the file of `PGPASSFILE`.
 */
export function withoutInboxPassword({ inbox }: InboxFlags, env: Context['env']): Context['env'] {
  const place = inbox ?? inEnvironment(env) ?? '';
  const isDatabase = /^(@|postgres(ql)?:\/\/)/i.test(place);
  const holdsPassword = /^\w+:\/\/[^/@]*:[^/@]+@/.test(place);
  if (!isDatabase || holdsPassword) return env;
  return Object.fromEntries(Object.entries(env).filter(([name]) => !/^PGPASS(WORD|FILE)$/.test(name)));
}

/** The flags that name the same inbox, for a command line in a message; they start with a space. */
export function inboxFlagsText({ inbox }: InboxFlags, location: string): string {
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
