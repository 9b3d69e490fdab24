import { ConfigError } from '../../../../errors.ts';

/** The parts of a PostgreSQL URL, percent-decoded; empty parts are left out. */
export interface UrlParts {
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
export function splitUrl(text: string): UrlParts {
  const found = /^postgres(?:ql)?:\/\/([^/?]*)(?:\/([^?]*))?(?:\?(.*))?$/is.exec(text);
  if (found === null) throw new ConfigError('the URL of the database does not start with postgres://');
  const [, authority = '', path = '', query = ''] = found;
  if (path.includes('@') || query.includes('@')) {
    // What follows is a part of a password, and must not get into a message as the name of something.
    throw new ConfigError('the URL of the database has an @ behind its hosts', { hint: encodingHint });
  }
  const at = authority.lastIndexOf('@');
  const [user, password] = cut(at === -1 ? '' : authority.slice(0, at), ':');
  return {
    user: part(user, 'user'),
    password: part(password, 'password'),
    hosts: authority
      .slice(at + 1)
      .split(',')
      .map(splitHost),
    database: part(path, 'database'),
    parameters: splitQuery(query),
  };
}

const encodingHint = 'in user and password, write @ as %40, : as %3A, / as %2F and ? as %3F';

function splitHost(text: string): UrlParts['hosts'][number] {
  const [, bracketed, plain, port] = /^(?:\[([\da-f:.%]+)\]|([^[\]:]*))(?::(\d*))?$/i.exec(text) ?? [];
  if (bracketed === undefined && plain === undefined) {
    throw new ConfigError('the URL of the database names a host that cannot be read', {
      hint: `HOST, HOST:PORT or [IPV6]:PORT, several of them with commas; ${encodingHint}`,
    });
  }
  return { name: part(bracketed ?? plain, 'host'), port: part(port, 'port') };
}

function splitQuery(query: string): Map<string, string> {
  const parameters = new Map<string, string>();
  for (const pair of query.split('&').filter((one) => one !== '')) {
    const [key, value = ''] = cut(pair, '=');
    const name = decode(key, 'a parameter');
    if (parameters.has(name)) throw new ConfigError(`the URL of the database gives ${name} twice`);
    parameters.set(name, decode(value, name));
  }
  return parameters;
}

function cut(text: string, separator: string): [before: string, after: string | undefined] {
  const at = text.indexOf(separator);
  return at === -1 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)];
}

const part = (text: string | undefined, what: string): string | undefined =>
  text === undefined || text === '' ? undefined : decode(text, what);

function decode(text: string, what: string): string {
  try {
    const decoded = decodeURIComponent(text);
    if (!decoded.includes('\0')) return decoded;
  } catch {
    // Said below, without the text itself.
  }
  throw new ConfigError(`the URL of the database is not well percent-encoded in its ${what}`, {
    hint: 'write % as %25',
  });
}
