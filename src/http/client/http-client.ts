import { BlockList, isIP } from 'node:net';
import type { Dispatcher } from 'undici';
import { isLoopback } from '../../config/base-url.ts';
import { invalidProxy } from '../errors.ts';

export interface HttpRequest {
  readonly origin: string;
  readonly path: string;
  readonly method: Dispatcher.HttpMethod;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** An answer of any status, whose body is still to come. */
export interface HttpAnswer {
  readonly status: number;
  /** The text behind the status, which a server may leave empty. */
  readonly statusText: string;
  readonly rawHeaders: readonly (readonly [name: string, value: string])[];
  /** Names in lower case; the first value of a header that is sent more than once, `Link` aside. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** To be read or discarded; it throws where it breaks off. */
  readonly body: AsyncIterable<Uint8Array>;
  /** Gives the rest of the body up, so that its connection can be used again. */
  readonly discard: () => Promise<void>;
}

export interface HttpClient {
  /** Rejects with the system's error, or with one that has a code of node or undici. */
  request(request: HttpRequest): Promise<HttpAnswer>;
  destroy(): Promise<void>;
}

export interface HttpClientOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The directory of our own local authority, if there is one; undefined: it is not looked for. */
  readonly dataDir: string | undefined;
  readonly timeoutMs: number;
}

/** The headers of an answer, from the list of names and values in turn that node and undici give. */
export function answerHeaders(flat: readonly string[]): Pick<HttpAnswer, 'rawHeaders' | 'headers'> {
  const rawHeaders: (readonly [string, string])[] = [];
  const headers: Record<string, string | undefined> = {};
  for (let i = 0; i < flat.length; i += 2) {
    const [rawName = '', value = ''] = flat.slice(i, i + 2);
    rawHeaders.push([rawName, value]);
    const name = rawName.toLowerCase();
    const before = Object.hasOwn(headers, name) ? headers[name] : undefined;
    if (before === undefined) headers[name] = value;
    // `Link` values are one list (RFC 9110, section 5.3).
    else if (name === 'link') headers[name] = `${before}, ${value}`;
  }
  return { rawHeaders, headers };
}

type Env = Readonly<Record<string, string | undefined>>;

/**
 * The proxy for requests to an origin, from `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`; their lower-case forms take
 * precedence, as in curl. Loopback addresses are always reached directly: only to them the key may be sent over plain HTTP. Throws a `ConfigError` for a value that is not an http:// or https:// URL.
 */
export function proxyFor(origin: URL, env: Env): URL | undefined {
  if (isLoopback(origin.hostname) || isExempt(origin, envValue(env, 'no_proxy') ?? '')) return undefined;
  const name = origin.protocol === 'https:' ? 'https_proxy' : 'http_proxy';
  const text = envValue(env, name);
  if (text === undefined) return undefined;
  const url = /^[a-z][\w+.-]*:\/\//i.test(text) ? text : `http://${text}`;
  if (URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)) return new URL(url);
  throw invalidProxy(name.toUpperCase());
}

const envValue = (env: Env, name: string): string | undefined => {
  const value = env[name] ?? env[name.toUpperCase()];
  return value === '' ? undefined : value;
};

/**
 * `*`, or separated by commas or spaces: host names and suffixes, and addresses, each with an optional port, and networks such
 * as `10.0.0.0/8`.
 */
function isExempt(origin: URL, list: string): boolean {
  const port = origin.port === '' ? (origin.protocol === 'https:' ? '443' : '80') : origin.port;
  const hostname = withoutBrackets(origin.hostname);
  return list
    .toLowerCase()
    .split(/[\s,]+/)
    .some((entry) => {
      if (entry === '*') return true;
      const [, host = entry, entryPort] = /^(\[.*\]|[^:]*)(?::(\d+))?$/.exec(entry) ?? [];
      const name = withoutBrackets(host).replace(/^\*?\./, '');
      if (name === '' || (entryPort !== undefined && entryPort !== port)) return false;
      return hostname === name || hostname.endsWith(`.${name}`) || isWithin(hostname, name);
    });
}

const withoutBrackets = (host: string): string => host.replace(/^\[(.*)\]$/, '$1');

function isWithin(address: string, entry: string): boolean {
  const [network = '', length, ...more] = entry.split('/');
  const [family, allBits] = isIP(network) === 6 ? (['ipv6', 128] as const) : (['ipv4', 32] as const);
  const bits = length === undefined ? allBits : /^\d{1,3}$/.test(length) ? Number(length) : allBits + 1;
  if (isIP(address) === 0 || isIP(network) === 0 || bits > allBits || more.length > 0) return false;
  const networks = new BlockList();
  networks.addSubnet(network, bits, family);
  return networks.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');
}
