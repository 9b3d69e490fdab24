import { rfc9421 } from './rfc9421/rfc9421-scheme.ts';
import type { Scheme } from './scheme.ts';
import { ordinaryScheme } from './schemes/ordinary-scheme.ts';
import { withPublicUrl } from './schemes/public-url.ts';
import type { SchemeOptions } from './schemes/scheme-options.ts';
import { defaultToleranceMs } from './timestamp.ts';

export type { SchemeOptions } from './schemes/scheme-options.ts';

/** Throws a `ConfigError` for a name that is not one of `schemeNames`, and for options that are incomplete. */
export function schemeNamed(name: string, options: SchemeOptions = {}): Scheme {
  if (name !== 'rfc9421') return ordinaryScheme(name, options);
  const { toleranceMs = defaultToleranceMs, secretEncoding = 'utf8', publicUrl } = options;
  const scheme = rfc9421(toleranceMs, secretEncoding, options.require);
  return publicUrl === undefined ? scheme : withPublicUrl(scheme, publicUrl);
}
