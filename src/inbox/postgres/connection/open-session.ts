import { readFile } from 'node:fs/promises';
import { connect, isIP, type Socket } from 'node:net';
import { checkServerIdentity, connect as connectSecurely, type ConnectionOptions } from 'node:tls';
import { isDeepStrictEqual } from 'node:util';
import { ConfigError, LeadsError } from '../../../errors.ts';
import { addressAttempts } from '../../../http/client/limit-time.ts';
import type { Secret } from '../../../secret.ts';
import type { DatabaseProblem } from '../../problems.ts';
import { DatabaseUnavailableError, hostText, openingError, SocketFault } from './database-errors.ts';
import type { DatabaseLocation } from './database-location.ts';
import { type DatabaseHost, type DatabaseUrl, parseDatabaseUrl, sslModeFor } from './database-url.ts';
import { passwordFromFile } from './password-file.ts';
import { Session } from './session.ts';
import { sql } from '../sql.ts';

/** Connects to the first host that is what the URL asks for, in its order. Throws a `ConfigError` or a `DatabaseUnavailableError`. */
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
  const problems = failures.flatMap(({ problem }) => (problem as DatabaseProblem | undefined) ?? []);
  const found: DatabaseProblem = { kind: 'database-hosts-unusable', problems };
  // What every host that answers refuses, such as the password, is not mended by one that is down.
  const answered = failures.filter(({ problem }) => problem?.kind !== 'database-unreachable');
  const isTransient =
    answered.length === 0 || answered.some((one) => one instanceof DatabaseUnavailableError);
  const details = { cause: first };
  throw isTransient ? new DatabaseUnavailableError(found, details) : new ConfigError(found, details);
}

/**
 * Takes user and password of another URL for the same database, once the database has let them in. False: they are in use
 * already. Throws a `ConfigError` or a `DatabaseUnavailableError`, and changes nothing.
 */
export async function renewCredentials(location: DatabaseLocation, text: string): Promise<boolean> {
  const { url } = location;
  const next = parseDatabaseUrl(text, () => url.user);
  const { user, password } = next;
  const renewed = { ...url, user, password };
  if (!isDeepStrictEqual(next, renewed)) {
    throw new ConfigError({ kind: 'database-is-another' } satisfies DatabaseProblem);
  }
  if (user === url.user && password?.reveal() === url.password?.reveal()) return false;
  const session = await openSession({ ...location, url: renewed });
  session.drop();
  location.url = renewed;
  return true;
}

async function openOn(host: DatabaseHost, location: DatabaseLocation): Promise<Session> {
  const { url } = location;
  const password = await passwordFor(host, location);
  let session: Session | undefined;
  try {
    const place = { host, tls: await tlsOptions(url, host), timeoutMs: url.connectTimeoutMs };
    session = await Session.open(await openSocket(place), { url, password });
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

const sessionState = sql`
  SELECT current_setting('transaction_read_only') AS read_only, pg_is_in_recovery() AS is_standby`;

/** Throws a `DatabaseUnavailableError` when the server is not what the URL asks for. */
async function checkSession(
  session: Session,
  host: DatabaseHost,
  { sessionAttributes, connectTimeoutMs }: DatabaseUrl,
): Promise<void> {
  const [[state] = []] = await session.run(sessionState, connectTimeoutMs);
  if (sessionAttributes === 'any' || state === undefined) return;
  const isStandby = state['is_standby'] === true;
  const isUnfit = isStandby || (sessionAttributes === 'read-write' && state['read_only'] === 'on');
  if (isUnfit) {
    throw new DatabaseUnavailableError({
      kind: 'database-unfit',
      host: hostText(host),
      isStandby,
      asked: sessionAttributes,
    } satisfies DatabaseProblem);
  }
}

interface SocketOptions {
  readonly host: DatabaseHost;
  /** Undefined: not encrypted. */
  readonly tls: ConnectionOptions | undefined;
  readonly timeoutMs: number;
}

/** PostgreSQL, "Message Formats": SSLRequest. */
const sslRequest = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47]);
const takesTls = 'S'.charCodeAt(0);

/** Connects to one host, and encrypts before anything is sent. Rejects with what node says, or with a `SocketFault`. */
async function openSocket({ host, tls, timeoutMs }: SocketOptions): Promise<Socket> {
  const { name, port, isSocket } = host;
  const socket = isSocket
    ? connect(`${name}/.s.PGSQL.${port}`)
    : connect({ ...addressAttempts, host: name, port });
  socket.setNoDelay(true);
  socket.setKeepAlive(true, keepAliveMs);
  const opened = [socket];
  const timer = setTimeout(() => {
    for (const one of opened) one.destroy(new SocketFault('connect time-out', timeoutMs));
  }, timeoutMs);
  try {
    await nextEvent(socket, 'connect');
    if (tls === undefined) return socket;
    const answered = nextEvent(socket, 'data');
    socket.write(sslRequest);
    const [answer] = (await answered) as [Buffer];
    // More than the one byte would be unencrypted words of somebody in between (CVE-2021-23222).
    if (answer.length !== 1 || answer[0] !== takesTls) throw new SocketFault('no TLS');
    const secured = connectSecurely({ ...tls, socket });
    opened.unshift(secured);
    await nextEvent(secured, 'secureConnect');
    return secured;
  } catch (error) {
    for (const one of opened) one.destroy();
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

/** A peer that vanished is noticed on idle connections, too. */
const keepAliveMs = 30_000;

/** What the event gives; rejects when the socket fails or ends before it. */
function nextEvent(socket: Socket, event: 'connect' | 'data' | 'secureConnect'): Promise<unknown[]> {
  return new Promise((resolve, reject) => {
    const onClose = (): void => reject(new SocketFault('closed'));
    // A listener stays, since an error without one would end the process.
    socket.on('error', reject);
    socket.once('close', onClose);
    socket.once(event, (...values: unknown[]) => {
      socket.off('close', onClose);
      resolve(values);
    });
  });
}

/**
 * What the TLS connection to a host is made with; undefined: it is not encrypted. Files are read anew for each connection,
 * so that certificates can be renewed while a receiver runs. Throws a `ConfigError` for a file that cannot be read.
 */
async function tlsOptions(url: DatabaseUrl, host: DatabaseHost): Promise<ConnectionOptions | undefined> {
  const mode = sslModeFor(url, host);
  if (mode === 'disable') return undefined;
  const { sslRootCert, sslCert, sslKey } = url;
  const ca = sslRootCert === 'system' ? undefined : await readPem('sslrootcert', sslRootCert);
  const cert = await readPem('sslcert', sslCert);
  const key = await readPem('sslkey', sslKey);
  return {
    // Without `ca`, node's usual authorities and those of NODE_EXTRA_CA_CERTS.
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
    const { code } = cause as NodeJS.ErrnoException;
    const detail = code ?? String(cause);
    const found: DatabaseProblem = { kind: 'database-file-unreadable', parameter, path, detail };
    throw new ConfigError(found, { cause });
  }
}
