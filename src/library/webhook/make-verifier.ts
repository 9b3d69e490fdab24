import { ConfigError } from '../../errors.ts';
import { parsePointer } from '../../json/exact.ts';
import { Secret } from '../../secret.ts';
import type { Policy } from '../../webhook/check-delivery.ts';
import { presets } from '../../webhook/presets.ts';
import type { SchemeOptions } from '../../webhook/scheme-options.ts';
import type { Key, Scheme, Verifier } from '../../webhook/scheme.ts';
import { presetScheme } from '../../webhook/schemes/preset-scheme.ts';
import { pairAlgorithm } from '../../webhook/schemes/template-scheme.ts';
import { token } from '../../webhook/schemes/token.ts';
import { asBytes } from './lead.ts';
import type * as Defined from './defined-scheme.ts';
import type * as Own from './own-verifier.ts';
import type * as Errors from './secret-errors.ts';
import type { SchemeChoice } from './options.ts';

/** What a scheme needs that is more than a shared secret. */
export interface OtherSchemes {
  readonly defined: () => Promise<Pick<typeof Defined, 'definedScheme'>>;
  readonly own: () => Promise<Pick<typeof Own, 'ownVerifier'>>;
  readonly errors: () => Promise<Pick<typeof Errors, 'schemeError'>>;
}

/**
 * The scheme with its keys. Rejects with a `ConfigError` for an unknown scheme, parts that do not belong together, no
 * secret, or one that the scheme cannot read: never with a weaker check.
 */
export async function makeVerifier(choice: SchemeChoice, others: OtherSchemes): Promise<Verifier> {
  const { scheme: given } = choice;
  if (typeof given === 'function') return (await others.own()).ownVerifier(given, choice);
  try {
    const options = schemeOptions(choice);
    const secrets = secretsOf(choice.secrets);
    const scheme =
      sharedSecretScheme(choice.scheme, options, secrets) ??
      (await others.defined()).definedScheme(choice.scheme, options);
    return withKeys(scheme, choice);
  } catch (thrown) {
    const { schemeError } = await others.errors();
    throw schemeError(thrown);
  }
}

/** The options that every scheme has. */
export const schemeOptions = (choice: SchemeChoice): Pick<SchemeOptions, 'toleranceMs' | 'publicUrl'> => ({
  toleranceMs: choice.toleranceMs,
  publicUrl: publicUrlOf(choice),
});

/** Throws a `ConfigError` for a tolerance that has no effect, for no secret, and for one that the scheme cannot read. */
export function withKeys(scheme: Scheme, { toleranceMs, secrets }: SchemeChoice): Verifier {
  checkTolerance(toleranceMs, scheme);
  return { scheme, keys: secretsOf(secrets).map((secret): Key => scheme.key(secret)) };
}

/** The schemes that most use, without the code of all others; undefined for those. */
function sharedSecretScheme(
  name: unknown,
  options: SchemeOptions,
  secrets: readonly Secret[],
): Scheme | undefined {
  if (name === 'token') return token();
  const preset = options.publicUrl === undefined ? presets.find((known) => known.name === name) : undefined;
  if (preset === undefined || secrets.some((secret) => pairAlgorithm(preset, secret) !== undefined)) {
    return undefined;
  }
  return presetScheme(preset, options, noPair);
}

const noPair = (): never => {
  throw new TypeError('a key pair, and no shared secret');
};

function publicUrlOf({ publicUrl }: SchemeChoice): URL | undefined {
  if (publicUrl === undefined) return undefined;
  const text = String(publicUrl);
  if (URL.canParse(text)) return new URL(text);
  throw new ConfigError(`publicUrl '${text}' is not a URL`);
}

function checkTolerance(toleranceMs: number | undefined, scheme: Scheme): void {
  if (toleranceMs === undefined) return;
  if (!Number.isFinite(toleranceMs) || toleranceMs < 0) {
    throw new ConfigError('toleranceMs must be a number');
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
    if (one !== undefined) throw new ConfigError(`secret ${i + 1} is neither a text nor bytes`);
    throw new ConfigError(`secret ${i + 1} is undefined`, {
      hint: 'is its environment variable set?',
    });
  });
}

/** Where the leads are in a body: `auto`, or a JSON Pointer (RFC 6901), of which an empty one is the body. */
export function leadPlace(leadAt = 'auto'): Pick<Policy, 'leadAt' | 'leadAtNames'> {
  const place = leadAt === 'auto' ? leadAt : parsePointer(leadAt);
  if (place !== undefined) return { leadAt: place, leadAtNames: { saidBy: 'leadAt', option: 'leadAt' } };
  throw new ConfigError(`leadAt '${leadAt}' is no JSON Pointer`, { hint: "'/data', or 'auto'" });
}
