import { ConfigError } from '../../errors.ts';
import { fieldName } from '../field-name.ts';
import { presets } from '../presets/all.ts';
import type { Preset } from '../presets/preset.ts';
import { branded } from '../presets/signed-time/standard-webhooks.ts';
import { schemeNames } from '../scheme-names.ts';
import type { Scheme } from '../scheme.ts';
import { defaultToleranceMs } from '../timestamp.ts';
import { custom } from './custom.ts';
import { firstSent } from './first-sent.ts';
import { withPublicUrl } from './public-url.ts';
import type { SchemeOptions } from './scheme-options.ts';
import { templateScheme } from './template-scheme.ts';
import { token } from './token.ts';

/**
 * Any scheme but `rfc9421`, whose code is nearly as much as that of all others together. Throws a `ConfigError` for an
 * unknown name, and for options that are incomplete.
 */
export function ordinaryScheme(name: string, options: SchemeOptions): Scheme {
  const scheme = make(name, options);
  return options.publicUrl === undefined ? scheme : withPublicUrl(scheme, options.publicUrl);
}

function make(name: string, options: SchemeOptions): Scheme {
  if (name === 'token') return token(options.tokenHeader);
  if (name === 'custom') return custom(options, options.toleranceMs ?? defaultToleranceMs);
  const preset = presets.find((known) => known.name === name);
  if (preset === undefined) {
    throw new ConfigError(`the webhook scheme '${name}' is unknown`, {
      hint: `it must be one of ${schemeNames.join(', ')}`,
    });
  }
  const { headerPrefix } = options;
  const isBranded = name === 'standard-webhooks' && headerPrefix !== undefined;
  return presetScheme(isBranded ? branded(fieldName(headerPrefix)) : preset, options.toleranceMs);
}

function presetScheme(preset: Preset, toleranceMs: number | undefined): Scheme {
  const options = { ...preset, toleranceMs: toleranceMs ?? preset.toleranceMs ?? defaultToleranceMs };
  const scheme = templateScheme(options);
  if (preset.otherNames === undefined) return scheme;
  return firstSent(
    scheme,
    preset.otherNames.map((names) => templateScheme({ ...options, ...names })),
  );
}
