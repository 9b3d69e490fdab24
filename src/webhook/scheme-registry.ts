import { Secret } from '../secret.ts';
import { asymmetricKey } from './crypto/asymmetric-key.ts';
import { configError } from './problems.ts';
import { presets, schemeNames } from './presets.ts';
import { rfc9421 } from './rfc9421/rfc9421-scheme.ts';
import type { Scheme } from './scheme.ts';
import { custom } from './schemes/custom.ts';
import { presetScheme } from './schemes/preset-scheme.ts';
import { withPublicUrl } from './schemes/public-url.ts';
import type { SchemeOptions } from './scheme-options.ts';
import { timedToken } from './schemes/timed-token.ts';
import { token } from './schemes/token.ts';
import { defaultToleranceMs } from './timestamp.ts';

export type { SchemeOptions } from './scheme-options.ts';

/** Throws a `ConfigError` for a name that is not one of `schemeNames`, and for options that are incomplete. */
export function schemeNamed(name: string, options: SchemeOptions = {}): Scheme {
  return withPublicUrl(make(name, options), options.publicUrl);
}

function make(name: string, options: SchemeOptions): Scheme {
  const tolerance = options.toleranceMs ?? defaultToleranceMs;
  if (name === 'token') {
    const plain = token(options.tokenHeader);
    const { timestampHeader, timestampFormat, nonceHeader } = options;
    if (timestampHeader === undefined && timestampFormat !== undefined) {
      throw configError({ kind: 'format-without-time' });
    }
    return timestampHeader === undefined && nonceHeader === undefined
      ? plain
      : timedToken(plain, options, tolerance);
  }
  if (name === 'rfc9421') return rfc9421(tolerance, options.secretEncoding ?? 'utf8', options.require);
  if (name === 'custom') return custom(options, tolerance);
  const preset = presets.find((known) => known.name === name);
  if (preset !== undefined) {
    const { verifyToken } = options;
    const scheme = presetScheme(preset, options, asymmetricKey);
    return verifyToken === undefined ? scheme : { ...scheme, verifyToken: new Secret(verifyToken) };
  }
  throw configError({ kind: 'unknown-scheme', name, known: schemeNames });
}
