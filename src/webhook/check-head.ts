import { type Delivery, pathOf } from './delivery.ts';
import { type Rejection, rejection } from './rejection.ts';
import type { Verifier } from './scheme.ts';

/** Path and method: the first step in the order of work for a delivery. */
export function checkTarget(
  delivery: Pick<Delivery, 'path' | 'method'>,
  policy: { readonly path: string | undefined },
): Rejection | undefined {
  const path = pathOf(delivery);
  if (policy.path !== undefined && path !== policy.path) {
    return rejection('wrong_path', `nothing is received at ${path}`);
  }
  if (delivery.method !== 'POST') {
    return rejection('wrong_method', `a delivery is a POST, not a ${delivery.method}`);
  }
  return undefined;
}

/**
 * What is wrong with a delivery whatever its body will be: path, method, and a credential that is absent, or that needs no
 * body and is wrong. A delivery that passes is not authenticated yet: `checkDelivery` follows when the body is complete.
 */
export function checkHead(
  head: Delivery,
  policy: Verifier & { readonly path: string | undefined },
): Rejection | undefined {
  const wrongTarget = checkTarget(head, policy);
  if (wrongTarget !== undefined) return wrongTarget;
  const { scheme, keys } = policy;
  const { credentialHeaders: names } = scheme;
  const isAbsent = !head.rawHeaders.some(([name]) => names.includes(name.toLowerCase()));
  if (!isAbsent && scheme.ignoresBody !== true) return undefined;
  const verified = scheme.authenticate(head, keys);
  return verified.ok ? undefined : rejection(verified.reason, verified.detail);
}
