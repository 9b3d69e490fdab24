import { ConfigError } from '../../errors.ts';
import type { Delivery } from '../delivery.ts';
import type { Key, Scheme } from '../scheme.ts';
import { schemeNames } from '../scheme-names.ts';
import { schemeNamed } from '../scheme-registry.ts';

/** Tries every other named scheme with the same secrets, and variants of some that only a flag selects. */
export function explainOtherScheme(
  delivery: Delivery,
  scheme: Scheme,
  keys: readonly Key[],
): string | undefined {
  const matches = (other: Scheme): boolean => {
    const otherKeys = keys.flatMap((key) => keyFor(other, key));
    return otherKeys.length > 0 && other.authenticate(delivery, otherKeys).ok;
  };
  const name = schemeNames
    .filter((known) => known !== scheme.name && known !== 'custom')
    .find((known) => matches(schemeNamed(known)));
  if (name !== undefined) {
    return `It matches under the scheme '${name}', and the scheme here is '${scheme.name}'.`;
  }
  return explainBrand(delivery, matches) ?? explainCoverage(scheme, matches);
}

/** Standard Webhooks under a vendor's own names of the headers. */
function explainBrand(delivery: Delivery, matches: (scheme: Scheme) => boolean): string | undefined {
  const brand = delivery.rawHeaders
    .map(([name]) => /^(.{1,60})-signature$/i.exec(name)?.[1]?.toLowerCase())
    .filter((name) => name !== undefined)
    .slice(0, 3)
    .find((headerPrefix) => matches(schemeNamed('standard-webhooks', { headerPrefix })));
  return brand === undefined
    ? undefined
    : `It matches under the scheme 'standard-webhooks' with its headers named ${brand}-…: --scheme standard-webhooks --header-prefix ${brand}`;
}

/** A message signature that covers less than is required here. */
function explainCoverage(scheme: Scheme, matches: (scheme: Scheme) => boolean): string | undefined {
  if (scheme.name !== 'rfc9421') return undefined;
  const less = [['method', 'digest'], ['target', 'digest'], ['digest']].find((require) =>
    matches(schemeNamed('rfc9421', { require })),
  );
  return less === undefined
    ? undefined
    : `The signature matches, but covers less than is required here. To take such deliveries: --require ${less.join(',')}`;
}

function keyFor(scheme: Scheme, key: Key): readonly Key[] {
  try {
    return [scheme.key(key.secret)];
  } catch (error) {
    // The secret does not have the form that this scheme uses, so this scheme explains nothing.
    if (error instanceof ConfigError) return [];
    throw error;
  }
}
