import { readFile } from 'node:fs/promises';
import { connect, isIP, type Socket } from 'node:net';
import { checkServerIdentity, connect as connectSecurely, type ConnectionOptions } from 'node:tls';
import { isDeepStrictEqual } from 'node:util';
import { ConfigError, LeadsError } from '../../errors.ts';
import { unreadable } from '../../files/errors.ts';
import { addressAttempts } from '../../http/client/http-client.ts';
import type { Secret } from '../../secret.ts';
import type { Row } from '../sql/row.ts';
import {
  cannotOpen,
  connectionClosed,
  DatabaseUnavailableError,
  ConnectionError,
} from './database-errors.ts';
import { hostText, openingError } from './opening-error.ts';
import type { DatabaseLocation } from './connection/database-location.ts';
import {
  type DatabaseHost,
  type DatabaseUrl,
  parseDatabaseUrl,
  sslModeFor,
} from './connection/database-url.ts';
import { passwordFromFile } from './connection/password-file.ts';
import { Session } from './session.ts';

/**
 * Opens a session on the first host that is what the URL asks for, in its order. The sockets are opened here, and not by the
 * library, for three reasons: it would try hosts that are all down without an end, go on with a server that offers no encryption,
 * and connect again by itself with a password and certificates that may be out of date. Throws a `ConfigError` or a `DatabaseUnavailableError`.
 */
export async function openSession(location: DatabaseLocation): Promise<Session> {
  const failures: LeadsError[] = [];
  for (const host of location.url.hosts) {
    try {
      return await openOn(host, location);
    } catch (error) {
      if (!(error instanceof LeadsError)) throw error;
      failures.push(error);
    }
  }
  const [first] = failures;
  if (first === undefined || failures.length === 1) throw first ?? new Error('a URL without a host');
  const reasons = failures.map(({ message }) => message).join('; ');
  const message = `none of the ${failures.length} hosts of the database can be used: ${reasons}`;
  // When every host that answers refuses for good, as with a wrong password, it does not help to wait for hosts that are down.
  const answered = failures.filter(({ kind }) => kind !== 'database-unreachable');
  const isTransient =
    answered.length === 0 || answered.some((failure) => failure instanceof DatabaseUnavailableError);
  const details = { hint: first.details.hint, cause: first };
  throw isTransient ? new DatabaseUnavailableError(message, details) : new ConfigError(message, details);
}

export async function withSession<T>(
  location: DatabaseLocation,
  work: (session: Session) => Promise<T>,
): Promise<T> {
  const session = await openSession(location);
  try {
    return await work(session);
  } catch (error) {
    throw cannotOpen(location.shown, error);
  } finally {
    await session.close();
  }
}

/**
 * Takes user and password of another URL for the same database, once the database has let them in. False: they are in use
 * already. Throws a `ConfigError` or a `DatabaseUnavailableError`, and changes nothing.
 */
export async function renewCredentials(location: DatabaseLocation, urlText: string): Promise<boolean> {
  const { url } = location;
  const next = parseDatabaseUrl(urlText, () => url.user);
  const { user, password } = next;
  const renewed = { ...url, user, password };
  if (!isDeepStrictEqual(next, renewed)) {
    throw new ConfigError(
      'the URL differs in more than user and password, and a receiver stays with its inbox',
      { hint: 'start it again for another one' },
    );
  }
  if (user === url.user && password?.reveal() === url.password?.reveal()) return false;
  // This session only shows that the database accepts the login.
  const session = await openSession({ ...location, url: renewed });
  session.drop();
  location.url = renewed;
  return true;
}

async function openOn(host: DatabaseHost, location: DatabaseLocation): Promise<Session> {
  const { url } = location;
  const password = await passwordFor(host, location);
  const tls = await tlsOptions(url, host);
  const { name, port, isSocket } = host;
  const socket = isSocket
    ? connect(`${name}/.s.PGSQL.${port}`)
    : connect({ ...addressAttempts, host: name, port });
  // The TLS socket joins the plain one below it: the session uses the last of them, and a time-out ends both.
  const sockets = [socket];
  const end = (fault?: Error): void => {
    for (const each of sockets.toReversed()) each.destroy(fault);
  };
  const timeOut = new ConnectionError(`no answer in ${url.connectTimeoutMs / 1000} s`);
  const timer = setTimeout(() => end(timeOut), url.connectTimeoutMs);
  try {
    socket.setNoDelay(true);
    socket.setKeepAlive(true, keepAliveMs);
    await nextEvent(socket, 'connect');
    if (tls !== undefined) {
      await askForTls(socket);
      sockets.push(connectSecurely({ ...tls, socket }));
      await nextEvent(sockets.at(-1) ?? socket, 'secureConnect');
    }
    const session = new Session(sockets.at(-1) ?? socket, { url, password });
    checkState(await session.begin(), host, url);
    return session;
  } catch (error) {
    end();
    if (error instanceof LeadsError) throw error;
    throw openingError(error, { url, host, hasPassword: password !== undefined });
  } finally {
    clearTimeout(timer);
  }
}

async function passwordFor(host: DatabaseHost, location: DatabaseLocation): Promise<Secret | undefined> {
  const { url, passwords, warn } = location;
  return (
    url.password ?? passwords.environment ?? (await passwordFromFile(passwords.file, { ...url, host }, warn))
  );
}

function checkState(row: Row, host: DatabaseHost, { sessionAttributes }: DatabaseUrl): void {
  const isStandby = row['is_standby'] === true;
  const isReadOnly = sessionAttributes === 'read-write' && row['read_only'] === 'on';
  if (sessionAttributes === 'any' || !(isStandby || isReadOnly)) return;
  const state = isStandby ? 'a standby' : 'read-only';
  throw new DatabaseUnavailableError(`the database on ${hostText(host)} is ${state}`, {
    hint: `target_session_attrs=${sessionAttributes} in the URL asks for another`,
  });
}

/** A peer that vanished is noticed on idle connections, too. */
const keepAliveMs = 30_000;

/** PostgreSQL, "Message Formats": SSLRequest. */
const sslRequest = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47]);
const takesTls = 'S'.charCodeAt(0);

/** Rejects with a `ConnectionError` for a server that does not offer TLS. */
async function askForTls(socket: Socket): Promise<void> {
  const answered = nextEvent(socket, 'data');
  socket.write(sslRequest);
  const [answer] = (await answered) as [Buffer];
  // More than the one byte would be unencrypted bytes of an attacker in between (CVE-2021-23222).
  if (answer.length !== 1 || answer[0] !== takesTls)
    throw new ConnectionError('it does not offer TLS', 'no TLS');
}

/** Resolves to the values of the event; rejects when the socket fails or ends before it. */
function nextEvent(socket: Socket, event: 'connect' | 'data' | 'secureConnect'): Promise<unknown[]> {
  return new Promise((resolve, reject) => {
    const onClose = (): void => reject(connectionClosed());
    // This listener is never removed: node ends the process for an error that no listener gets.
    socket.on('error', reject);
    socket.once('close', onClose);
    socket.once(event, (...values: unknown[]) => {
      socket.off('close', onClose);
      resolve(values);
    });
  });
}

/**
 * The TLS options for a host; undefined: the connection is not encrypted. Files are read for each connection, so that
 * certificates can be renewed while a receiver runs. Throws a `ConfigError` for a file that cannot be read.
 */
async function tlsOptions(url: DatabaseUrl, host: DatabaseHost): Promise<ConnectionOptions | undefined> {
  const mode = sslModeFor(url, host);
  if (mode === 'disable') return undefined;
  const { sslRootCert, sslCert, sslKey } = url;
  const ca = sslRootCert === 'system' ? undefined : await readPem('sslrootcert', sslRootCert);
  const cert = await readPem('sslcert', sslCert);
  const key = await readPem('sslkey', sslKey);
  return {
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
    ...(isIP(host.name) === 0 ? { servername: host.name } : {}),
    minVersion: 'TLSv1.2',
    rejectUnauthorized: mode !== 'require',
    checkServerIdentity: (_name, certificate) =>
      mode === 'verify-full' ? checkServerIdentity(host.name, certificate) : undefined,
  };
}

async function readPem(parameter: string, path: string | undefined): Promise<string | undefined> {
  if (path === undefined) return undefined;
  try {
    return await readFile(path, 'utf8');
  } catch (cause) {
    throw new ConfigError(unreadable(`the ${parameter} of the database, ${path}`, cause), { cause });
  }
}
