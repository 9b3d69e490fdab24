import { headerValues, fieldName } from '../delivery.ts';
import { branded, type Preset } from '../presets.ts';
import type { SchemeOptions } from '../scheme-options.ts';
import type { Scheme } from '../scheme.ts';
import { defaultToleranceMs } from '../timestamp.ts';
import { templateScheme } from './template-scheme.ts';

export function presetScheme(
  preset: Preset,
  { headerPrefix, toleranceMs }: Pick<SchemeOptions, 'headerPrefix' | 'toleranceMs'>,
): Scheme {
  const isBranded = preset.name === 'standard-webhooks' && headerPrefix !== undefined;
  const renamed = isBranded ? branded(preset, fieldName(headerPrefix)) : preset;
  const options = { ...renamed, toleranceMs: toleranceMs ?? renamed.toleranceMs ?? defaultToleranceMs };
  const scheme = templateScheme(options);
  if (renamed.otherNames === undefined) return scheme;
  return firstSent(
    scheme,
    renamed.otherNames.map((names) => templateScheme({ ...options, ...names })),
  );
}

/**
 * Checks a delivery by the first set of header names whose signature it carries, never by a mixture of them.
 * Signs as the first one does.
 */
function firstSent(first: Scheme, alternatives: readonly Scheme[]): Scheme {
  const schemes = [first, ...alternatives];
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
