import { headerValues, fieldName } from '../delivery.ts';
import { branded, type Preset } from '../presets.ts';
import type { SchemeOptions } from '../scheme-options.ts';
import type { Scheme } from '../scheme.ts';
import { defaultToleranceMs } from '../timestamp.ts';
import { templateScheme } from './template-scheme.ts';

/** A vendor's scheme. Throws a `ConfigError` for a `headerPrefix` that no header can begin with. */
export function presetScheme(
  preset: Preset,
  { headerPrefix, toleranceMs }: Pick<SchemeOptions, 'headerPrefix' | 'toleranceMs'>,
): Scheme {
  const isBranded = preset.name === 'standard-webhooks' && headerPrefix !== undefined;
  const named = isBranded ? branded(preset, fieldName(headerPrefix)) : preset;
  const options = { ...named, toleranceMs: toleranceMs ?? named.toleranceMs ?? defaultToleranceMs };
  const scheme = templateScheme(options);
  if (named.otherNames === undefined) return scheme;
  return firstSent(
    scheme,
    named.otherNames.map((names) => templateScheme({ ...options, ...names })),
  );
}

/**
 * One scheme under several names of its headers: a delivery is checked by the first whose signature it carries, never by
 * a mixture of them. Signs as the first one does.
 */
function firstSent(first: Scheme, others: readonly Scheme[]): Scheme {
  const schemes = [first, ...others];
  return {
    ...first,
    credentialHeaders: schemes.flatMap((scheme) => scheme.credentialHeaders),
    plainHeaders: schemes.flatMap((scheme) => scheme.plainHeaders ?? []),
    authenticate(delivery, keys) {
      const sent = schemes.find(({ credentialHeaders }) =>
        credentialHeaders.some((name) => headerValues(delivery, name).length > 0),
      );
      return (sent ?? first).authenticate(delivery, keys);
    },
  };
}
