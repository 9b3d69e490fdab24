import { ConfigError } from '../../errors.ts';
import { Secret } from '../../secret.ts';
import type { Key, Scheme, Verifier } from '../../webhook/scheme.ts';
import { ordinaryScheme } from '../../webhook/schemes/ordinary-scheme.ts';
import type { SchemeOptions } from '../../webhook/schemes/scheme-options.ts';
import { checkDefinition } from './check-definition.ts';
import { namingOptions } from './option-names.ts';
import { asBytes } from './request/as-bytes.ts';
import type { SchemeChoice } from './scheme-choice.ts';

/**
 * The scheme with its keys. Rejects with a `ConfigError` for an unknown scheme, parts that do not belong together, no
 * secret, or one that the scheme cannot read: never with a weaker check.
 */
export async function makeVerifier(choice: SchemeChoice): Promise<Verifier> {
  const { name, ...parts } =
    typeof choice.scheme === 'string' ? { name: choice.scheme } : definitionOf(choice);
  checkDefinition(name, parts);
  const { toleranceMs } = choice;
  const options: SchemeOptions = { ...parts, toleranceMs, publicUrl: publicUrlOf(choice) };
  const make =
    name === 'rfc9421' ? (await import('../../webhook/scheme-registry.ts')).schemeNamed : ordinaryScheme;
  return namingOptions(() => {
    const scheme = make(name, options);
    checkTolerance(toleranceMs, scheme);
    return { scheme, keys: secretsOf(choice.secrets).map((secret): Key => scheme.key(secret)) };
  });
}

function definitionOf({ scheme }: SchemeChoice): { readonly name: string } & Record<string, unknown> {
  const definition: unknown = scheme;
  if (typeof definition === 'object' && definition !== null && 'name' in definition) {
    if (typeof definition.name === 'string') return { ...definition, name: definition.name };
  }
  throw new ConfigError('no scheme is named', {
    hint: "such as scheme: 'standard-webhooks', or scheme: { name: 'custom', signatureHeader: 'x-signature' }",
  });
}

function publicUrlOf({ publicUrl }: SchemeChoice): URL | undefined {
  if (publicUrl === undefined) return undefined;
  if (URL.canParse(String(publicUrl))) return new URL(publicUrl);
  throw new ConfigError(`publicUrl '${String(publicUrl)}' is not a URL`);
}

function checkTolerance(toleranceMs: number | undefined, scheme: Scheme): void {
  if (toleranceMs === undefined) return;
  if (!Number.isFinite(toleranceMs) || toleranceMs < 0) {
    throw new ConfigError('toleranceMs must be a number of milliseconds');
  }
  if (scheme.toleranceMs === undefined) {
    throw new ConfigError(`toleranceMs: the scheme '${scheme.name}' signs no time`);
  }
}

function secretsOf(given: SchemeChoice['secrets']): readonly Secret[] {
  const all: readonly unknown[] = Array.isArray(given) ? given : [given];
  if (all.length === 0) throw new ConfigError('no secret is given: anybody could deliver');
  return all.map((one, i) => {
    const bytes = asBytes(one);
    if (bytes !== undefined) return Secret.ofBytes(bytes);
    if (typeof one === 'string') return new Secret(one);
    throw new ConfigError(`secret ${i + 1} is neither a text nor bytes`, {
      hint: 'is the environment variable set that it comes from?',
    });
  });
}
