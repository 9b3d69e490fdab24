import { readFile } from 'node:fs/promises';
import { connect, isIP, type Socket } from 'node:net';
import { checkServerIdentity, connect as connectSecurely, type ConnectionOptions } from 'node:tls';
import { isDeepStrictEqual } from 'node:util';
import { ConfigError, LeadsError } from '../../errors.ts';
import { unreadable } from '../../files/errors.ts';
import { addressAttempts } from '../../http/client/http-client.ts';
import type { Secret } from '../../secret.ts';
import { type Row, textOf } from '../sql/row.ts';
import {
  cannotOpen,
  connectionCut,
  ConnectionError,
  DatabaseUnavailableError,
  hostText,
  openingError,
} from './database-errors.ts';
import { type DatabaseLocation, passwordFromFile } from './database-location.ts';
import { type DatabaseHost, type DatabaseUrl, parseDatabaseUrl, sslModeFor } from './database-url.ts';
import { Session } from './session.ts';

/**
 * Opens a session on the first host, in the order of the URL, that can be used and is what the URL asks for. The sockets are opened
 * here, and not by the library `postgres`, for three reasons: the library would try hosts that are all down without an end, go on
 * unencrypted where a server offers no TLS, and connect again by itself, with a password and certificates that may have changed. Throws
 * a `ConfigError` or a `DatabaseUnavailableError`.
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
  throw noHostError(failures);
}

function noHostError(failures: readonly LeadsError[]): Error {
  const [first] = failures;
  if (first === undefined || failures.length === 1) return first ?? new Error('a URL without a host');
  const reasons = failures.map(({ message }) => message).join('; ');
  const message = `none of the ${failures.length} hosts of the database can be used: ${reasons}`;
  const details = { hint: first.details.hint, cause: first };
  // When every host that answers refuses for good, as with a wrong password, it does not help to wait for hosts that are down.
  const answered = failures.filter(({ kind }) => kind !== 'database-unreachable');
  const mayWorkLater =
    answered.length === 0 || answered.some((failure) => failure instanceof DatabaseUnavailableError);
  return mayWorkLater ? new DatabaseUnavailableError(message, details) : new ConfigError(message, details);
}

/** Runs work in a session of its own, without a pool. */
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
 * Replaces user and password in the location by those of another URL for the same database, once the database has accepted them.
 * Resolves to false where they are in use already. Throws a `ConfigError` or a `DatabaseUnavailableError`, and changes nothing then.
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

/** Connects to the host, with TLS inside of the plain connection if the URL asks for it, and logs in. One time-out is for all of this. */
async function openOn(host: DatabaseHost, location: DatabaseLocation): Promise<Session> {
  const { url } = location;
  const password = await passwordFor(host, location);
  const tls = await tlsOptions(url, host);
  const { name, port, isSocket } = host;
  const socket = isSocket
    ? connect(`${name}/.s.PGSQL.${port}`)
    : connect({ ...addressAttempts, host: name, port });
  let outermost: Socket = socket;
  const close = (fault?: Error): void => {
    outermost.destroy(fault);
    socket.destroy(fault);
  };
  const timeOut = new ConnectionError(`no answer in ${url.connectTimeoutMs / 1000} s`);
  const timer = setTimeout(() => close(timeOut), url.connectTimeoutMs);
  try {
    socket.setNoDelay(true);
    socket.setKeepAlive(true, keepAliveMs);
    await nextEvent(socket, 'connect');
    if (tls !== undefined) {
      await askForTls(socket);
      outermost = connectSecurely({ ...tls, socket });
      await nextEvent(outermost, 'secureConnect');
    }
    const session = new Session(outermost, { url, password });
    await session.begin((state) => checkState(state, host, url));
    return session;
  } catch (error) {
    close();
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

/**
 * Throws where the server is too old, or not what `target_session_attrs` asks for. `primary` allows a primary that is set to be
 * read-only.
 */
function checkState(state: Row, host: DatabaseHost, { sessionAttributes }: DatabaseUrl): void {
  const version = textOf(state['version']);
  if (Number.parseInt(version, 10) < 14) {
    throw new ConfigError(`the database on ${hostText(host)} is PostgreSQL ${version}`, {
      hint: 'version 14 or newer is needed',
    });
  }
  if (sessionAttributes === 'any') return;
  const isStandby = state['is_standby'] === true;
  const isReadOnly = state['read_only'] === 'on';
  if (!isStandby && !(isReadOnly && sessionAttributes === 'read-write')) return;
  const role = isStandby ? 'a standby' : 'read-only';
  throw new DatabaseUnavailableError(`the database on ${hostText(host)} is ${role}`, {
    hint: `target_session_attrs=${sessionAttributes} in the URL asks for another`,
  });
}

/** With keep-alive, a peer that vanished is noticed on idle connections as well. */
const keepAliveMs = 30_000;

/** The message SSLRequest (PostgreSQL, "Message Formats"): its length, 8, and the code 80877103. The answer is one byte, S or N. */
const sslRequest = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47]);
const offersTls = 'S'.charCodeAt(0);

async function askForTls(socket: Socket): Promise<void> {
  const answered = nextEvent(socket, 'data');
  socket.write(sslRequest);
  const [answer] = (await answered) as [Buffer];
  // More bytes than the one would come unencrypted from an attacker on the way (CVE-2021-23222).
  if (answer.length !== 1 || answer[0] !== offersTls)
    throw new ConnectionError('it does not offer TLS', 'no TLS');
}

/** Resolves to the values of the event; rejects when the socket fails or ends before it. */
function nextEvent(socket: Socket, event: 'connect' | 'data' | 'secureConnect'): Promise<unknown[]> {
  return new Promise((resolve, reject) => {
    const onClose = (): void => reject(connectionCut());
    // This listener stays: node ends the process for an error that no listener gets.
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
