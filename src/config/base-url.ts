import { baseUrlInPlainHttp, baseUrlWithPassword, invalidBaseUrl } from './errors.ts';

/** Returns `3000`, `:3000/hook`, `localhost:3000` or `app.example` as a URL: http on this machine, https elsewhere. */
function withProtocol(typed: string): string {
  const portAndPath = /^:?(\d{1,5}(?:[/?].*)?)$/.exec(typed)?.[1];
  if (portAndPath !== undefined) return `http://localhost:${portAndPath}`;
  const hostAndMore = /^([a-z\d.-]+|\[[\da-f:.]+\])((?::\d{1,5})?(?:[/?].*)?)$/i;
  const [, host = '', portAndMore = ''] = hostAndMore.exec(typed) ?? [];
  if (isLoopback(host)) return `http://${typed}`;
  // A word without a dot or a port is a slip rather than a host.
  const isHost = /[.[]/.test(host) || /^:\d/.test(portAndMore);
  return isHost ? `https://${typed}` : typed;
}

/**
 * Parses a base URL as the user gives it: https, or http to a loopback address only, since the key travels with it. Throws a
 * `ConfigError` for any other.
 */
export function parseBaseUrl(text: string): URL {
  const url = httpUrlOf(text);
  if (url === undefined) throw invalidBaseUrl(withoutPassword(text));
  if (hasCredentials(url)) throw baseUrlWithPassword();
  if (url.protocol === 'http:' && !isLoopback(url.hostname)) throw baseUrlInPlainHttp(url.origin);
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

/** Returns what a person typed as a URL of HTTP; undefined for any other text. */
export function httpUrlOf(text: string): URL | undefined {
  const whole = withProtocol(text);
  const url = URL.canParse(whole) ? new URL(whole) : undefined;
  return url !== undefined && /^https?:$/.test(url.protocol) ? url : undefined;
}

const hasCredentials = ({ username, password }: URL): boolean => username !== '' || password !== '';

/** Whether a host, as a URL has it, is this machine: `localhost` and names below it, 127.0.0.0/8 and [::1]. */
export function isLoopback(hostname: string): boolean {
  return /^(localhost|.+\.localhost|127(\.\d{1,3}){3}|\[::1\])$/i.test(hostname);
}

/** The same for an address to listen on, in which IPv6 has no brackets. */
export const isLoopbackAddress = (host: string): boolean =>
  isLoopback(host.includes(':') ? `[${host}]` : host);
