import { headerValues } from '../delivery.ts';
import type { Scheme } from '../scheme.ts';

/**
 * One scheme under several names of its headers: a delivery is checked by the first whose signature it carries, never by
 * a mixture of them. Signs as the first one does.
 */
export function firstSent(first: Scheme, others: readonly Scheme[]): Scheme {
  const schemes = [first, ...others];
  return {
    ...first,
    credentialHeaders: schemes.flatMap((scheme) => scheme.credentialHeaders),
    authenticate(delivery, keys) {
      const sent = schemes.find(({ credentialHeaders }) =>
        credentialHeaders.some((name) => headerValues(delivery, name).length > 0),
      );
      return (sent ?? first).authenticate(delivery, keys);
    },
  };
}
