import type { Delivery } from '../delivery.ts';
import type { Scheme } from '../scheme.ts';

/**
 * For schemes that sign the URL, behind a proxy that rewrites it: a delivery that does not match with its own URL is also
 * checked with the public one. A public URL with a path stands for the request's path, one with a query also for its query.
 */
export function withPublicUrl(scheme: Scheme, publicUrl: URL | undefined): Scheme {
  if (publicUrl === undefined || !scheme.signsUrl) return scheme;
  return {
    ...scheme,
    publicUrl,
    authenticate(delivery, keys) {
      const asReceived = scheme.authenticate(delivery, keys);
      if (asReceived.ok) return asReceived;
      const asSent = scheme.authenticate({ ...delivery, ...atPublicUrl(delivery, publicUrl) }, keys);
      return asSent.ok ? asSent : asReceived;
    },
  };
}

/** What a sender asked for that was received at another address. */
export function atPublicUrl(
  received: Pick<Delivery, 'path'>,
  { origin, pathname, search }: URL,
): Pick<Delivery, 'path' | 'url'> {
  const [ownPath = '/', ...rest] = received.path.split('?');
  const ownQuery = rest.length === 0 ? '' : `?${rest.join('?')}`;
  const path = (pathname === '/' ? ownPath : pathname) + (search === '' ? ownQuery : search);
  return { path, url: origin + path };
}
