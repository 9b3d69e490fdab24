import { ConfigError } from '../../errors.ts';
import type { Key, Scheme } from '../../webhook/scheme.ts';
import type { DeliveryFault, Faults } from '../faults.ts';

/** How deliveries are signed; no key: not at all. */
export interface Signer {
  readonly scheme: Scheme;
  readonly key: Key | undefined;
}

/** A request as it goes out. */
export interface Signed {
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Uint8Array;
}

export const forgeries = [
  'badSignature',
  'staleTimestamp',
  'reusedNonce',
  'alteredPayload',
] as const satisfies readonly DeliveryFault[];

export type Forgery = (typeof forgeries)[number];

interface Plan {
  readonly url: string;
  readonly id: string;
  readonly body: Uint8Array;
  readonly now: number;
  /** A delivery id that this target has acknowledged for another lead. */
  readonly usedId: string | undefined;
}

/** Far outside of every tolerance. */
const staleByMs = 7 * 86_400_000;

/** Headers and body of one attempt, honest or forged in the way that is asked for. */
export function signed(signer: Signer, plan: Plan, forgery: Forgery | undefined): Signed {
  const credential = (change: Partial<Plan> = {}): Signed['headers'] => {
    const { url, id, body, now } = { ...plan, ...change };
    return signer.key === undefined
      ? []
      : signer.scheme.sign({ method: 'POST', url, id, body }, signer.key, now);
  };
  const send = (headers: Signed['headers'], body = plan.body): Signed => ({
    headers: [['Content-Type', 'application/json'], ...headers],
    body,
  });
  switch (forgery) {
    case undefined:
      return send(credential());
    case 'badSignature':
      return send(forged(credential(), credential({ body: Buffer.from('{}') }), signer.scheme));
    case 'staleTimestamp':
      return send(credential({ now: plan.now - staleByMs }));
    case 'reusedNonce':
      return send(credential({ id: plan.usedId ?? plan.id }));
    case 'alteredPayload':
      return send(credential(), altered(plan.body));
  }
}

/**
 * Throws a `ConfigError` for a fault that this scheme cannot show: what is not signed cannot be forged, and a receiver
 * would be right to take it in.
 */
export function refuseImpossible(signer: Signer, faults: Faults<DeliveryFault>): void {
  const base: Plan = { url: 'https://localhost/', id: 'a', body: Buffer.from('{}'), now: 0, usedId: 'b' };
  const headersOf = (forgery: Forgery | undefined): string =>
    JSON.stringify(signed(signer, base, forgery).headers);
  const bodyCovered =
    signer.key !== undefined &&
    headersOf(undefined) !==
      JSON.stringify(signed(signer, { ...base, body: Buffer.from('{"a":1}') }, undefined).headers);
  for (const name of forgeries) {
    if (faults[name] === undefined) continue;
    const possible = name === 'alteredPayload' ? bodyCovered : headersOf(name) !== headersOf(undefined);
    if (!possible) {
      throw new ConfigError(`the scheme '${signer.scheme.name}' cannot show the fault ${name}`, {
        hint: 'it does not sign what that fault forges; take another --scheme, or leave the fault out',
      });
    }
  }
}

/** A well-formed credential that is wrong: a signature of another body, or, where none is signed, another token. */
function forged(honest: Signed['headers'], other: Signed['headers'], scheme: Scheme): Signed['headers'] {
  if (JSON.stringify(honest) !== JSON.stringify(other)) return other;
  return honest.map(([name, value]) =>
    scheme.credentialHeaders.includes(name.toLowerCase()) ? [name, flipLast(value)] : [name, value],
  );
}

const flipLast = (text: string): string => text.slice(0, -1) + (text.endsWith('x') ? 'y' : 'x');

/** The same lead with a field more: what a man in the middle would do, and easy to find in an inbox. */
function altered(body: Uint8Array): Uint8Array {
  const text = Buffer.from(body).toString('utf8');
  return Buffer.from(text.replace(/^(\s*\{)/, '$1"forged":true,'));
}
