import type { Scheme } from './scheme.ts';

/**
 * For schemes that sign the URL: a delivery that came over plain HTTP is also tried under `https`. A receiver speaks plain
 * HTTP behind something that ends TLS, and the sender signed the address that it knows. Host, path and query stay.
 */
export function underPublicUrl(scheme: Scheme): Scheme {
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
