import { ConfigError } from '../../errors.ts';
import type { Scheme } from '../../webhook/scheme.ts';
import { schemeNamed, schemePartsOf } from '../../webhook/scheme-registry.ts';
import type { SchemeOptions } from '../../webhook/scheme-options.ts';

/**
 * Any scheme, from its name or its definition. Throws a `ConfigError` for one that is unknown or incomplete, and for parts
 * that it does not have: types say the same, and JavaScript does not read them.
 */
export function definedScheme(given: unknown, options: SchemeOptions): Scheme {
  const { name, ...parts } = typeof given === 'string' ? { name: given } : definitionOf(given);
  return schemeNamed(name, { ...schemePartsOf(name, parts, ['name']), ...options });
}

function definitionOf(given: unknown): { readonly name: string } & Record<string, unknown> {
  if (typeof given === 'object' && given !== null && 'name' in given && typeof given.name === 'string') {
    return { ...given, name: given.name };
  }
  throw new ConfigError('no scheme is named', {
    hint: "such as scheme: 'standard-webhooks', or scheme: { name: 'custom', signatureHeader: 'x-signature' }",
  });
}
