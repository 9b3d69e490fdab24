import { ConfigError } from '../../errors.ts';
import { parsePointer } from '../../json/exact.ts';
import { Secret } from '../../secret.ts';
import type { Policy } from '../../webhook/check-delivery.ts';
import { publicUrlIn, schemeNamed, schemePartsOf } from '../../webhook/scheme-registry.ts';
import type { SchemeOptions } from '../../webhook/scheme-options.ts';
import type { Scheme, Verifier } from '../../webhook/scheme.ts';
import { asBytes } from './lead.ts';
import type { SchemeChoice, VerifyOptions } from './options.ts';

/**
 * Returns the scheme with its keys. Throws a `ConfigError` for an unknown scheme, options that do not belong
 * together, no secret, or a secret that the scheme cannot read: the check is never weaker than asked.
 */
export function makeVerifier(choice: SchemeChoice): Verifier {
  const { toleranceMs } = choice;
  const scheme = definedScheme(choice.scheme, { toleranceMs, publicUrl: publicUrlOf(choice) });
  checkTolerance(toleranceMs, scheme);
  return { scheme, keys: secretsOf(choice.secrets).map((secret) => scheme.key(secret)) };
}

function definedScheme(choice: unknown, options: SchemeOptions): Scheme {
  const { name, ...parts } = typeof choice === 'string' ? { name: choice } : definitionOf(choice);
  return schemeNamed(name, { ...schemePartsOf(name, parts, ['name']), ...options });
}

function definitionOf(choice: unknown): { readonly name: string } & Record<string, unknown> {
  if (typeof choice === 'object' && choice !== null && 'name' in choice && typeof choice.name === 'string') {
    return { ...choice, name: choice.name };
  }
  throw new ConfigError('no scheme is named', {
    hint: "such as scheme: 'standard-webhooks', or scheme: { name: 'custom', signatureHeader: 'x-signature' }",
  });
}

function publicUrlOf({ publicUrl }: SchemeChoice): URL | undefined {
  if (publicUrl === undefined) return undefined;
  const text = String(publicUrl);
  const url = publicUrlIn(text);
  if (url !== undefined) return url;
  throw new ConfigError(`publicUrl '${text}' is not a URL with https:// or http://`);
}

/** A tolerance without any effect would look like a check. */
function checkTolerance(toleranceMs: number | undefined, scheme: Scheme): void {
  if (toleranceMs === undefined) return;
  if (!Number.isFinite(toleranceMs) || toleranceMs < 0) {
    throw new ConfigError('toleranceMs must be a number');
  }
  if (scheme.toleranceMs === undefined) {
    throw new ConfigError(`toleranceMs: the scheme '${scheme.name}' signs no time`);
  }
}

function secretsOf(secrets: SchemeChoice['secrets']): readonly Secret[] {
  const all: readonly unknown[] = Array.isArray(secrets) ? secrets : [secrets];
  if (all.length === 0) throw new ConfigError('no secret is given: anybody could deliver');
  return all.map((secret, i) => {
    const bytes = asBytes(secret);
    if (bytes !== undefined) return Secret.ofBytes(bytes);
    if (typeof secret === 'string') return new Secret(secret);
    if (secret !== undefined) throw new ConfigError(`secret ${i + 1} is neither a text nor bytes`);
    throw new ConfigError(`secret ${i + 1} is undefined`, { hint: 'is its environment variable set?' });
  });
}

export function leadPlace({
  leadAt = 'auto',
  idField = 'id',
}: Pick<VerifyOptions, 'leadAt' | 'idField'>): Pick<Policy, 'leadAt' | 'leadAtNames' | 'idField'> {
  if (typeof (idField as unknown) !== 'string' || idField === '') {
    throw new ConfigError('idField is not the name of a field', { hint: "such as 'uuid'" });
  }
  const place = leadAt === 'auto' ? leadAt : parsePointer(leadAt);
  if (place === undefined) {
    throw new ConfigError(`leadAt '${leadAt}' is no JSON Pointer`, { hint: "'/data', or 'auto'" });
  }
  return {
    leadAt: place,
    leadAtNames: { saidBy: 'leadAt', option: 'leadAt' },
    idField: { name: idField, option: 'idField' },
  };
}
