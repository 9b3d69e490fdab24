import { baseUrlInPlainHttp, baseUrlWithPassword, invalidBaseUrl } from './errors.ts';

/** `3000`, `:3000/hook`, `localhost:3000` or `app.example` as a URL: http on this machine, https elsewhere. */
export function withProtocol(typed: string): string {
  const port = /^:?(\d{1,5}(?:[/?].*)?)$/.exec(typed)?.[1];
  if (port !== undefined) return `http://localhost:${port}`;
  const [, host = '', further = ''] =
    /^([a-z\d.-]+|\[[\da-f:.]+\])((?::\d{1,5})?(?:[/?].*)?)$/i.exec(typed) ?? [];
  // A word alone is a slip rather than a host.
  if (!isLoopback(host) && !/[.[]/.test(host) && !/^:\d/.test(further)) return typed;
  return `${isLoopback(host) ? 'http' : 'https'}://${typed}`;
}

/**
 * A base URL as the user gives it: https, or http to a loopback address only, since the key travels with it. Throws a
 * `ConfigError` for any other.
 */
export function parseBaseUrl(text: string): URL {
  const url = httpUrlOf(text);
  if (url === undefined) throw invalidBaseUrl(withoutPassword(text));
  if (hasCredentials(url)) throw baseUrlWithPassword();
  if (url.protocol === 'http:' && !isLoopback(url.hostname)) {
    throw baseUrlInPlainHttp(url.origin);
  }
  return url;
}

/**
 * The text of a base URL for messages, without its user name and password. An unescaped password may hold `@` and `/`: all up
 * to the last `@` is hidden, though it may be a part of the path.
 */
export function withoutPassword(text: string): string {
  const url = httpUrlOf(text);
  return url !== undefined && !hasCredentials(url) ? text : text.replace(/^([a-z]+:\/\/)?.*@/is, '$1…@');
}

function httpUrlOf(text: string): URL | undefined {
  const whole = withProtocol(text);
  const url = URL.canParse(whole) ? new URL(whole) : undefined;
  return url !== undefined && /^https?:$/.test(url.protocol) ? url : undefined;
}

const hasCredentials = ({ username, password }: URL): boolean => username !== '' || password !== '';

/** `localhost` and names below it, 127.0.0.0/8 and [::1], as a URL has them. */
export function isLoopback(hostname: string): boolean {
  return /^(localhost|.+\.localhost|127(\.\d{1,3}){3}|\[::1\])$/i.test(hostname);
}

/** The same for an address to listen on, which is without brackets. */
export const isLoopbackAddress = (host: string): boolean =>
  isLoopback(host.includes(':') ? `[${host}]` : host);
