import { isLoopback } from '../../config/base-url.ts';
import { ConfigError } from '../../errors.ts';
import { Secret } from '../../secret.ts';

/** How the connection is protected (PostgreSQL, "SSL Mode Descriptions"). */
type SslMode = 'disable' | 'require' | 'verify-ca' | 'verify-full';

/** The servers that may be used (PostgreSQL, "target_session_attrs"): any, those that take writes, or those that are no standby. */
type SessionAttributes = 'any' | 'read-write' | 'primary';

export interface DatabaseHost {
  readonly name: string;
  readonly port: number;
  readonly isSocket: boolean;
}

/**
 * A PostgreSQL URL that was checked, before any name or file in it is looked up. `sslRootCert`, `sslCert` and `sslKey` are paths of
 * PEM files; `system` as the first stands for the authorities of this machine. `connectTimeoutMs` is for each host. `ignored` has the names
 * of parameters without an effect here. `isWaitedFor`: a command waits for a database that is down. `isInsecure` allows
 * `sslmode=disable` beyond this machine.
 */
export interface DatabaseUrl {
  readonly hosts: readonly DatabaseHost[];
  readonly user: string;
  readonly password: Secret | undefined;
  readonly database: string;
  readonly schema: string;
  readonly sslMode: SslMode | undefined;
  readonly sslRootCert: string | undefined;
  readonly sslCert: string | undefined;
  readonly sslKey: string | undefined;
  readonly sessionAttributes: SessionAttributes;
  readonly connectTimeoutMs: number;
  readonly applicationName: string;
  readonly options: string | undefined;
  readonly ignored: readonly string[];
  readonly isWaitedFor: boolean;
  readonly isInsecure: boolean;
}

const wrong = (problem: string, hint?: string): ConfigError =>
  new ConfigError(`the URL of the database ${problem}`, { hint });

const encoding = 'in user and password, write @ as %40, : as %3A, / as %2F and ? as %3F';

const parameterNames = (
  'schema wait host port user password dbname sslmode sslrootcert sslcert sslkey target_session_attrs ' +
  'connect_timeout application_name options insecure'
).split(' ');

/** Parameters of libpq that providers put into their URLs: without them, too, sockets are kept alive and certificates verified. */
const ignoredNames =
  /^(channel_binding|keepalives(_idle|_interval|_count)?|tcp_user_timeout|load_balance_hosts|gssencmode|krbsrvname|sslcompression|sslsni|client_encoding|fallback_application_name)$/;

/** Reads a URL in libpq's forms. `defaultUser` gives the user where the URL names none. Throws a `ConfigError`. */
export function parseDatabaseUrl(text: string, defaultUser: () => string): DatabaseUrl {
  const parts = splitUrl(text);
  const { parameters } = parts;
  for (const name of parameters.keys()) {
    if (!parameterNames.includes(name) && !ignoredNames.test(name)) {
      throw wrong(`has a parameter that is not known: ${name}`, `known are ${parameterNames.join(', ')}`);
    }
  }
  const valueOf = (name: string): string | undefined => parameters.get(name) || undefined;
  const user = valueOf('user') ?? parts.user ?? defaultUser();
  const password = valueOf('password') ?? parts.password;
  const sslKey = valueOf('sslkey');
  const sslCert = valueOf('sslcert');
  if ((sslKey === undefined) !== (sslCert === undefined)) {
    throw wrong('needs sslcert and sslkey together, or neither');
  }
  return {
    hosts: hostsOf(parts),
    user,
    password: password === undefined ? undefined : new Secret(password),
    database: valueOf('dbname') ?? parts.database ?? user,
    schema: schemaOf(valueOf('schema')),
    sslMode: sslModeOf(valueOf('sslmode')),
    sslRootCert: valueOf('sslrootcert'),
    sslCert,
    sslKey,
    sessionAttributes: sessionAttributesOf(valueOf('target_session_attrs')),
    connectTimeoutMs: connectTimeoutOf(valueOf('connect_timeout')),
    applicationName: valueOf('application_name') ?? 'leads',
    options: valueOf('options'),
    ignored: [...parameters.keys()].filter((name) => ignoredNames.test(name)),
    isWaitedFor: choice('wait', valueOf('wait'), ['0', '1']) !== '0',
    isInsecure: choice('insecure', valueOf('insecure'), ['true', 'false']) === 'true',
  };
}

export const isLocal = ({ name, isSocket }: DatabaseHost): boolean =>
  isSocket || isLoopback(name.includes(':') ? `[${name}]` : name);

function hostsOf({ hosts, parameters }: UrlParts): DatabaseHost[] {
  const names = parameters.get('host')?.split(',') ?? hosts.map(({ name }) => name ?? '');
  const ports = parameters.get('port')?.split(',') ?? hosts.map(({ port }) => port ?? '');
  if (ports.length !== 1 && ports.length !== names.length) {
    throw wrong(`names ${names.length} hosts and ${ports.length} ports: one port for all, or one for each`);
  }
  return names.map((written, i) => {
    const name = written === '' ? 'localhost' : written;
    const port = Number((ports.length === 1 ? ports[0] : ports[i]) || '5432');
    if (!Number.isInteger(port) || port < 1 || port > 65_535) {
      throw wrong('names a port that is not a number from 1 to 65535');
    }
    return { name, port, isSocket: name.startsWith('/') };
  });
}

/** PostgreSQL cuts a longer name short without an error. */
const longestNameBytes = 63;

function schemaOf(name = 'leads'): string {
  const isTooLong = Buffer.byteLength(name) > longestNameBytes;
  if (!isTooLong && !/^pg_/i.test(name) && name !== 'information_schema') return name;
  throw new ConfigError(`the inbox cannot be in a schema called '${name}'`, {
    hint: isTooLong
      ? `PostgreSQL's names have at most ${longestNameBytes} bytes`
      : 'PostgreSQL keeps such names for itself',
  });
}

function sslModeOf(mode: string | undefined): SslMode | undefined {
  if (mode === 'prefer' || mode === 'allow') {
    throw new ConfigError(
      `sslmode=${mode} in the URL of the database is no protection: it goes on unencrypted when that is offered`,
      { hint: 'leave sslmode out, which is verify-full, or choose sslmode=require' },
    );
  }
  return choice('sslmode', mode, ['disable', 'require', 'verify-ca', 'verify-full']);
}

function sessionAttributesOf(attributes: string | undefined): SessionAttributes {
  return choice('target_session_attrs', attributes, ['any', 'read-write', 'primary']) ?? 'any';
}

function connectTimeoutOf(seconds = '5'): number {
  // With 0, libpq waits for ever, and so would senders.
  if (seconds === '0') return connectTimeoutOf();
  if (/^[1-9]\d{0,3}$/.test(seconds)) return Number(seconds) * 1000;
  throw wrong(`has connect_timeout=${seconds}, which is not a number of seconds up to 9999`);
}

function choice<const V extends string>(
  name: string,
  value: string | undefined,
  choices: readonly V[],
): V | undefined {
  if (value === undefined) return undefined;
  const chosen = choices.find((allowed) => allowed === value);
  if (chosen !== undefined) return chosen;
  throw wrong(`has ${name}=${value}, which is not one of ${choices.join(', ')}`);
}

interface UrlParts {
  readonly user: string | undefined;
  readonly password: string | undefined;
  readonly hosts: readonly { readonly name: string | undefined; readonly port: string | undefined }[];
  readonly database: string | undefined;
  readonly parameters: ReadonlyMap<string, string>;
}

/**
 * Takes a URL apart as libpq does (PostgreSQL, "Connection URIs"): several hosts are allowed, which `URL` does not read.
 * Throws a `ConfigError`, which does not quote the URL, since a password may stand in it.
 */
function splitUrl(text: string): UrlParts {
  const match = /^postgres(?:ql)?:\/\/([^/?]*)(?:\/([^?]*))?(?:\?(.*))?$/is.exec(text);
  if (match === null) throw wrong('does not start with postgres://');
  const [, authority = '', path = '', query = ''] = match;
  if (path.includes('@') || query.includes('@')) {
    // The text before that @ is a part of a password, which a message must not show as the name of a host or parameter.
    throw wrong('has an @ after its hosts', encoding);
  }
  const hostsStart = authority.lastIndexOf('@') + 1;
  const [user, password] = cut(authority.slice(0, Math.max(0, hostsStart - 1)), ':');
  return {
    user: part(user, 'user'),
    password: part(password, 'password'),
    hosts: authority.slice(hostsStart).split(',').map(splitHost),
    database: part(path, 'database'),
    parameters: splitQuery(query),
  };
}

function splitHost(text: string): UrlParts['hosts'][number] {
  const [, bracketed, plain, port] = /^(?:\[([\da-f:.%]+)\]|([^[\]:]*))(?::(\d*))?$/i.exec(text) ?? [];
  if (bracketed === undefined && plain === undefined) {
    throw wrong(
      'names a host that cannot be read',
      `HOST, HOST:PORT or [IPV6]:PORT, several of them with commas; ${encoding}`,
    );
  }
  return { name: part(bracketed ?? plain, 'host'), port: part(port, 'port') };
}

function splitQuery(query: string): Map<string, string> {
  const parameters = new Map<string, string>();
  for (const pair of query.split('&').filter((text) => text !== '')) {
    const [key, value = ''] = cut(pair, '=');
    const name = decode(key, 'a parameter');
    if (parameters.has(name)) throw wrong(`gives ${name} twice`);
    parameters.set(name, decode(value, name));
  }
  return parameters;
}

function cut(text: string, separator: string): [before: string, after: string | undefined] {
  const end = text.indexOf(separator);
  return end === -1 ? [text, undefined] : [text.slice(0, end), text.slice(end + 1)];
}

const part = (text: string | undefined, name: string): string | undefined =>
  text === undefined || text === '' ? undefined : decode(text, name);

function decode(text: string, name: string): string {
  try {
    const decoded = decodeURIComponent(text);
    if (!decoded.includes('\0')) return decoded;
  } catch {
    // The error below does not quote the text, which may be a password.
  }
  throw wrong(`is not well percent-encoded in its ${name}`, 'write % as %25');
}

type SslParts = Pick<DatabaseUrl, 'sslMode' | 'sslRootCert' | 'sslCert'>;

/**
 * The mode for one of the hosts. A unix socket has no TLS. `require` with `sslrootcert` verifies the authority, as in libpq. Without
 * `sslmode`, it is `verify-full` beyond this machine, and on it where files for TLS are named.
 */
export function sslModeFor({ sslMode, sslRootCert, sslCert }: SslParts, host: DatabaseHost): SslMode {
  if (host.isSocket) return 'disable';
  if (sslMode === 'require' && sslRootCert !== undefined) {
    return sslRootCert === 'system' ? 'verify-full' : 'verify-ca';
  }
  if (sslMode !== undefined) return sslMode;
  const asksForTls = sslRootCert !== undefined || sslCert !== undefined;
  return isLocal(host) && !asksForTls ? 'disable' : 'verify-full';
}
