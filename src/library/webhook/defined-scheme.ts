import { ConfigError } from '../../errors.ts';
import type { Scheme } from '../../webhook/scheme.ts';
import { schemeNamed } from '../../webhook/scheme-registry.ts';
import { type SchemeOptions, schemePartKeys, schemeParts, strayPart } from '../../webhook/scheme-options.ts';

/**
 * Any scheme, from its name or its definition. Throws a `ConfigError` for one that is unknown or incomplete, and for parts
 * that it does not have.
 */
export function definedScheme(given: unknown, options: SchemeOptions): Scheme {
  const { name, ...parts } = typeof given === 'string' ? { name: given } : definitionOf(given);
  checkParts(name, parts);
  return schemeNamed(name, { ...parts, ...options });
}

function definitionOf(given: unknown): { readonly name: string } & Record<string, unknown> {
  if (typeof given === 'object' && given !== null && 'name' in given && typeof given.name === 'string') {
    return { ...given, name: given.name };
  }
  throw new ConfigError('no scheme is named', {
    hint: "such as scheme: 'standard-webhooks', or scheme: { name: 'custom', signatureHeader: 'x-signature' }",
  });
}

/**
 * Throws a `ConfigError` for a part that is misspelt, of another scheme, or of another type: less would be checked than was
 * meant. Types say the same, and JavaScript does not read them.
 */
function checkParts(name: string, parts: Readonly<Record<string, unknown>>): void {
  for (const [key, value] of Object.entries(parts)) {
    const part = schemePartKeys.find((known) => known === key);
    if (part === undefined) {
      throw new ConfigError(`'${key}' is no part of a scheme`, {
        hint: `the parts are name, ${schemePartKeys.join(', ')}`,
      });
    }
    if (value === undefined) continue;
    const { values } = schemeParts[part];
    const isList = part === 'require';
    const isText = isList ? isTextList(value) : typeof value === 'string';
    if (!isText || values?.includes(value as string) === false) {
      const expected = values?.join(', ') ?? (isList ? 'a list of texts' : 'a text');
      throw new ConfigError(`the scheme's ${key} must be ${expected.replace(/^(.*), /, '$1 or ')}`);
    }
  }
  const stray = strayPart(parts, name);
  if (stray === undefined) return;
  throw new ConfigError(
    `${stray} belongs to the scheme ${schemeParts[stray].of.join(' or ')}, and this one is '${name}'`,
  );
}

const isTextList = (value: unknown): boolean =>
  Array.isArray(value) && value.every((one) => typeof one === 'string');
