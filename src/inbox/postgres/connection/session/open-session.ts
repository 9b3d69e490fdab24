import { ConfigError, LeadsError } from '../../../../errors.ts';
import type { Secret } from '../../../../secret.ts';
import type { DatabaseLocation } from '../address/database-location.ts';
import type { DatabaseHost, DatabaseUrl } from '../address/database-url.ts';
import { passwordFromFile } from '../security/password-file.ts';
import { tlsOptions } from '../security/tls-options.ts';
import { DatabaseUnavailableError, hostText, openingError } from './database-errors.ts';
import { openSocket } from './open-socket.ts';
import { Session } from './database-session.ts';

/**
 * Connects to the first host that is what the URL asks for, in its order. Throws a `ConfigError` or a
 * `DatabaseUnavailableError`.
 */
export async function openSession(location: DatabaseLocation): Promise<Session> {
  const { hosts } = location.url;
  const failures: LeadsError[] = [];
  for (const host of hosts) {
    try {
      return await openOn(host, location);
    } catch (error) {
      if (!(error instanceof LeadsError)) throw error;
      failures.push(error);
    }
  }
  const [first] = failures;
  if (first === undefined || failures.length === 1) throw first ?? new Error('a URL without a host');
  const message = `none of the ${failures.length} hosts of the database can be used: ${failures.map((one) => one.message).join('; ')}`;
  const isTransient = failures.some((one) => one instanceof DatabaseUnavailableError);
  const details = { hint: first.hint, cause: first };
  throw isTransient ? new DatabaseUnavailableError(message, details) : new ConfigError(message, details);
}

async function openOn(host: DatabaseHost, location: DatabaseLocation): Promise<Session> {
  const { url } = location;
  const password = await passwordFor(host, location);
  let session: Session | undefined;
  try {
    const socket = await openSocket({
      host,
      tls: await tlsOptions(url, host),
      timeoutMs: url.connectTimeoutMs,
    });
    session = new Session(socket, url, password);
    await checkSession(session, host, url);
    return session;
  } catch (error) {
    session?.drop();
    if (error instanceof LeadsError) throw error;
    throw openingError(error, { url, host, hasPassword: password !== undefined });
  }
}

async function passwordFor(host: DatabaseHost, location: DatabaseLocation): Promise<Secret | undefined> {
  const { url, passwords, warn } = location;
  return (
    url.password ?? passwords.environment ?? (await passwordFromFile(passwords.file, { ...url, host }, warn))
  );
}

const sessionState = `
SELECT current_setting('transaction_read_only') AS read_only, pg_is_in_recovery() AS is_standby`;

/** Throws a `DatabaseUnavailableError` when the server is not what the URL asks for. */
async function checkSession(
  session: Session,
  host: DatabaseHost,
  { sessionAttributes, connectTimeoutMs }: DatabaseUrl,
): Promise<void> {
  const [[state] = []] = await session.run({ text: sessionState }, connectTimeoutMs);
  if (sessionAttributes === 'any' || state === undefined) return;
  const isStandby = state['is_standby'] === true;
  const isUnfit = isStandby || (sessionAttributes === 'read-write' && state['read_only'] === 'on');
  if (isUnfit) {
    throw new DatabaseUnavailableError(
      `the database on ${hostText(host)} is ${isStandby ? 'a standby' : 'read-only'}`,
      { hint: `target_session_attrs=${sessionAttributes} in the URL asks for another` },
    );
  }
}
