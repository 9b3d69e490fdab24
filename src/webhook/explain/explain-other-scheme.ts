import { ConfigError } from '../../errors.ts';
import type { Delivery } from '../delivery.ts';
import type { Key, Scheme } from '../scheme.ts';
import { schemeNames } from '../scheme-names.ts';
import { schemeNamed } from '../scheme-registry.ts';
import { type Finding, joinFlags, type Search, secretFlag, shellWord } from './finding.ts';

/** Tries every other named scheme with the same secrets, and variants of some that only a flag selects. */
export function explainOtherScheme(
  delivery: Delivery,
  scheme: Scheme,
  keys: readonly Key[],
  search: Search,
): Finding | undefined {
  const matches = (other: Scheme): boolean => {
    const otherKeys = keys.flatMap((key) => keyFor(other, key));
    return otherKeys.length > 0 && search.matches(other, delivery, otherKeys);
  };
  const name = schemeNames
    .filter((known) => known !== scheme.name && known !== 'custom')
    .find((known) => matches(schemeNamed(known)));
  if (name !== undefined) {
    const what = `It matches under the scheme '${name}', and the scheme here is '${scheme.name}'.`;
    return { what, flags: joinFlags(`--scheme ${name}`, secretFlag(scheme.name, name)) };
  }
  return explainBrand(delivery, scheme, matches) ?? explainCoverage(scheme, matches);
}

/** Standard Webhooks under a vendor's own names of the headers. */
function explainBrand(
  delivery: Delivery,
  here: Scheme,
  matches: (scheme: Scheme) => boolean,
): Finding | undefined {
  const brand = delivery.rawHeaders
    .map(([name]) => /^(.{1,60})-signature$/i.exec(name)?.[1]?.toLowerCase())
    .filter((name) => name !== undefined)
    .slice(0, 3)
    .find((headerPrefix) => matches(schemeNamed('standard-webhooks', { headerPrefix })));
  if (brand === undefined) return undefined;
  return {
    what: `It matches under the scheme 'standard-webhooks' with its headers named ${brand}-….`,
    flags: joinFlags(
      `--scheme standard-webhooks --header-prefix ${shellWord(brand)}`,
      secretFlag(here.name, 'standard-webhooks'),
    ),
  };
}

/** A message signature that covers less than is required here. */
function explainCoverage(scheme: Scheme, matches: (scheme: Scheme) => boolean): Finding | undefined {
  if (scheme.name !== 'rfc9421') return undefined;
  const less = [['method', 'digest'], ['target', 'digest'], ['digest']].find((require) =>
    matches(schemeNamed('rfc9421', { require })),
  );
  return less === undefined
    ? undefined
    : {
        what: 'The signature matches, but covers less than is required here.',
        flags: `--require ${less.join(',')}`,
      };
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
