import { ConfigError } from '../errors.ts';
import { fieldName } from './field-name.ts';
import { presets } from './presets/all.ts';
import type { Preset } from './presets/preset.ts';
import { branded } from './presets/signed-time/standard-webhooks.ts';
import { rfc9421 } from './rfc9421/rfc9421-scheme.ts';
import { schemeNames } from './scheme-names.ts';
import type { Scheme } from './scheme.ts';
import { custom, type CustomOptions } from './schemes/custom.ts';
import { firstSent } from './schemes/first-sent.ts';
import { withPublicUrl } from './schemes/public-url.ts';
import { templateScheme } from './schemes/template-scheme.ts';
import { token } from './schemes/token.ts';
import { defaultToleranceMs } from './timestamp.ts';

export interface SchemeOptions extends CustomOptions {
  /** How far a signed time may lie from now, in milliseconds. Default 5 minutes, or what the vendor says. */
  readonly toleranceMs?: number | undefined;
  /** Of the scheme `token`. Default `x-webhook-token`. */
  readonly tokenHeader?: string | undefined;
  /** Of `standard-webhooks`: the vendor's own prefix of its headers, which are taken beside the unbranded ones. */
  readonly headerPrefix?: string | undefined;
  /** Of `rfc9421`: what a signature must cover. Default method, target and digest. */
  readonly require?: readonly string[] | undefined;
  /** The receiver's URL as its senders know it, for schemes that sign it. */
  readonly publicUrl?: URL | undefined;
}

/** Throws a `ConfigError` for a name that is not one of `schemeNames`, and for options that are incomplete. */
export function schemeNamed(name: string, options: SchemeOptions = {}): Scheme {
  const scheme = make(name, options);
  return options.publicUrl === undefined ? scheme : withPublicUrl(scheme, options.publicUrl);
}

function make(name: string, options: SchemeOptions): Scheme {
  const tolerance = options.toleranceMs ?? defaultToleranceMs;
  if (name === 'token') return token(options.tokenHeader);
  if (name === 'rfc9421') return rfc9421(tolerance, options.secretEncoding ?? 'utf8', options.require);
  if (name === 'custom') return custom(options, tolerance);
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
