import type { Scheme } from '../scheme.ts';

/**
 * For schemes that sign the URL: a delivery over plain HTTP is also checked with an `https` URL. A receiver behind a proxy
 * that ends TLS gets plain HTTP, while the sender signed the public URL. Host, path and query stay the same.
 */
export function tryHttpsUrl(scheme: Scheme): Scheme {
  return {
    ...scheme,
    authenticate(delivery, keys) {
      const asReceived = scheme.authenticate(delivery, keys);
      if (asReceived.ok || !delivery.url.startsWith('http://')) return asReceived;
      const url = delivery.url.replace('http://', 'https://');
      const asSent = scheme.authenticate({ ...delivery, url }, keys);
      return asSent.ok ? asSent : asReceived;
    },
  };
}
