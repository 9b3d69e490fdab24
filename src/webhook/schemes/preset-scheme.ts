import { fieldName } from '../field-name.ts';
import type { Preset } from '../presets/preset.ts';
import { branded } from '../presets/signed-time/standard-webhooks.ts';
import type { Scheme } from '../scheme.ts';
import { defaultToleranceMs } from '../timestamp.ts';
import { firstSent } from './first-sent.ts';
import type { SchemeOptions } from './scheme-options.ts';
import { type ReadPair, templateScheme } from './template-scheme.ts';

/** A vendor's scheme. Throws a `ConfigError` for a `headerPrefix` that no header can begin with. */
export function presetScheme(
  preset: Preset,
  { headerPrefix, toleranceMs }: Pick<SchemeOptions, 'headerPrefix' | 'toleranceMs'>,
  readPair: ReadPair,
): Scheme {
  const isBranded = preset.name === 'standard-webhooks' && headerPrefix !== undefined;
  const named = isBranded ? branded(fieldName(headerPrefix)) : preset;
  const options = { ...named, toleranceMs: toleranceMs ?? named.toleranceMs ?? defaultToleranceMs };
  const scheme = templateScheme(options, readPair);
  if (named.otherNames === undefined) return scheme;
  return firstSent(
    scheme,
    named.otherNames.map((names) => templateScheme({ ...options, ...names }, readPair)),
  );
}
