import { UsageError } from '../../errors.ts';
import { urlBelow } from '../../service/pagination/request-params.ts';
import type { Field } from './call-field.ts';

/**
 * The address of a call: a path below the base URL, or a whole URL of its origin. Throws a `UsageError` for any other,
 * since the key would go along.
 */
export function callUrl(baseUrl: URL, path: string, query: readonly Field[]): URL {
  const url = addressOf(baseUrl, path);
  if (url?.origin !== baseUrl.origin) {
    const where = url === undefined || url.origin === 'null' ? 'no http address' : url.origin;
    throw new UsageError(`'${path}' is at ${where}: the API key is for ${baseUrl.origin} only`, {
      hint: 'give a path such as /api/leads, or another --profile',
    });
  }
  if (url.username !== '' || url.password !== '') {
    throw new UsageError('the URL holds a user name or password', { hint: 'leave it out' });
  }
  url.hash = '';
  for (const { name, text } of query) url.searchParams.append(name, text);
  return url;
}

/** A path that begins with two slashes names another host, as in a browser. */
function addressOf(baseUrl: URL, path: string): URL | undefined {
  if (!/^([a-z][a-z0-9+.-]*:|[\\/]{2})/i.test(path)) {
    return urlBelow(baseUrl, path.startsWith('/') ? path : `/${path}`);
  }
  return URL.canParse(path, baseUrl.href) ? new URL(path, baseUrl) : undefined;
}
