import { ConfigError } from '../../errors.ts';
import { algorithms } from '../../webhook/crypto/algorithm.ts';
import { encodings } from '../../webhook/crypto/encoding.ts';
import { secretEncodings } from '../../webhook/crypto/symmetric-key.ts';
import { schemePartKeys, schemesWith, strayPart } from '../../webhook/schemes/scheme-parts.ts';
import { timestampFormats } from '../../webhook/timestamp.ts';

/** The parts that are one of a few words. */
const choices: Readonly<Record<string, readonly string[]>> = {
  algorithm: algorithms,
  encoding: encodings,
  secretEncoding: secretEncodings,
  timestampFormat: timestampFormats,
  signatureHeaders: ['one', 'several'],
};

/**
 * Throws a `ConfigError` for a part that is misspelt, of another scheme, or of another type: less would be checked than was
 * meant. Types say the same, and JavaScript does not read them.
 */
export function checkDefinition(name: string, parts: Readonly<Record<string, unknown>>): void {
  for (const [key, value] of Object.entries(parts)) {
    if (!schemePartKeys.some((known) => known === key)) {
      throw new ConfigError(`'${key}' is no part of a scheme`, {
        hint: `the parts are name, ${schemePartKeys.join(', ')}`,
      });
    }
    if (value === undefined) continue;
    const isText =
      key === 'require'
        ? Array.isArray(value) && value.every((one) => typeof one === 'string')
        : typeof value === 'string';
    const wrong = !isText || choices[key]?.includes(value as string) === false;
    if (wrong) {
      const expected = choices[key]?.join(', ') ?? (key === 'require' ? 'a list of texts' : 'a text');
      throw new ConfigError(`the scheme's ${key} must be ${expected.replace(/^(.*), /, '$1 or ')}`);
    }
  }
  const stray = strayPart(parts, name);
  if (stray === undefined) return;
  throw new ConfigError(
    `${stray} belongs to the scheme ${schemesWith(stray).join(' or ')}, and this one is '${name}'`,
  );
}
