import { ConfigError } from '../errors.ts';

/**
 * A base URL as the user gives it: https, or http to a loopback address only, since the key travels with it. Throws a
 * `ConfigError` for any other.
 */
export function parseBaseUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    // A password may stand in it.
    const shown = text.replace(/[^/]*@/, '…@');
    throw new ConfigError(`the base URL '${shown}' is not a URL that starts with https://`);
  }
  if (url.username !== '' || url.password !== '') {
    throw new ConfigError('the base URL holds a user name or password', {
      hint: 'leave it out of the URL: the API key is given and stored apart from it',
    });
  }
  if (url.protocol === 'http:' && !isLoopback(url.hostname)) {
    throw new ConfigError(`the base URL ${url.origin} is plain HTTP: the API key would travel unencrypted`, {
      hint: 'use https:// (plain http:// is for loopback addresses only)',
    });
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
