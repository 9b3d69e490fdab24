import { ConfigError } from '../../errors.ts';
import { canForge, type Forgery, forgeryKinds } from '../../sender/forge-request.ts';
import type { Signer } from '../../sender/sign-request.ts';
import type { FaultInjector } from '../fault-injector.ts';
import type { DeliveryFault, Faults } from '../faults.ts';

/** How the attempt that `key` names is forged, if at all. Before something was acknowledged no id can be reused. */
export function drawForgery(
  injector: FaultInjector<DeliveryFault>,
  key: string,
  usedId: string | undefined,
): Forgery | undefined {
  const possible = forgeryKinds.filter((kind) => kind !== 'reusedNonce' || usedId !== undefined);
  const kind = injector.drawFirst(possible, key)?.name;
  if (kind !== 'reusedNonce') return kind && { kind };
  return usedId === undefined ? undefined : { kind, usedId };
}

/**
 * Throws a `ConfigError` for a forgery that this scheme cannot show: a receiver would be right to accept what the
 * record of attempts calls forged.
 */
export function rejectImpossibleForgeries(signer: Signer, faults: Faults<DeliveryFault>): void {
  const impossible = forgeryKinds.find((kind) => faults[kind] !== undefined && !canForge(signer, kind));
  if (impossible === undefined) return;
  throw new ConfigError(`the scheme '${signer.scheme.name}' cannot show the fault ${impossible}`, {
    hint: 'it does not sign what that fault forges; use another --scheme, or leave the fault out',
  });
}
