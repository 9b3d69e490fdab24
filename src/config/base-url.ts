import { configError } from './problems.ts';

/**
 * A base URL as the user gives it: https, or http to a loopback address only, since the key travels with it. Throws a
 * `ConfigError` for any other.
 */
export function parseBaseUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    // A password may stand in it.
    const shown = text.replace(/[^/]*@/, '…@');
    throw configError({ kind: 'not-a-base-url', shown });
  }
  if (url.username !== '' || url.password !== '') {
    throw configError({ kind: 'base-url-with-password' });
  }
  if (url.protocol === 'http:' && !isLoopback(url.hostname)) {
    throw configError({ kind: 'base-url-in-plain-http', origin: url.origin });
  }
  return url;
}

/** Of a URL: `localhost` and names below it, 127.0.0.0/8 and [::1]. */
export function isLoopback(hostname: string): boolean {
  return /^(localhost|.+\.localhost|127(\.\d{1,3}){3}|\[::1\])$/i.test(hostname);
}

/** The same for an address to listen on, which is without brackets. */
export const isLoopbackAddress = (host: string): boolean =>
  isLoopback(host.includes(':') ? `[${host}]` : host);
