import { isLoopback } from '../../config/base-url.ts';
import { invalidProxy } from '../problems.ts';

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

/** `*`, or host names and suffixes with an optional port, separated by commas or spaces. */
function isExempt(origin: URL, list: string): boolean {
  const port = origin.port === '' ? (origin.protocol === 'https:' ? '443' : '80') : origin.port;
  return list
    .toLowerCase()
    .split(/[\s,]+/)
    .some((entry) => {
      if (entry === '*') return true;
      const [, host = '', entryPort] = /^(.*?)(?::(\d+))?$/.exec(entry) ?? [];
      const name = host.replace(/^\*?\./, '');
      if (name === '' || (entryPort !== undefined && entryPort !== port)) return false;
      return origin.hostname === name || origin.hostname.endsWith(`.${name}`);
    });
}
