import { createSecretKey } from 'node:crypto';
import type { Settings } from '../../config/load-settings.ts';
import { ConfigError } from '../../errors.ts';
import type { Secret } from '../../secret.ts';
import type { Delivery } from '../../webhook/delivery.ts';
import { schemeNames } from '../../webhook/presets.ts';
import { schemeNamed } from '../../webhook/scheme-registry.ts';
import type { Key, Verifier } from '../../webhook/scheme.ts';
import type { SchemeSecrets } from '../flags/resolve-scheme.ts';
import type { VerifyOptions } from './options.ts';

/** The secrets that a scheme reads, and those that it cannot. */
export interface ReadSecrets extends Verifier {
  readonly unreadable: readonly {
    /** As text, for the search alone: nothing is verified with it. */
    readonly key: Key;
    readonly error: ConfigError;
  }[];
}

/** Throws a `ConfigError` for an empty secret. */
export function readSecretsOf({ scheme, secrets }: SchemeSecrets): ReadSecrets {
  const keys: Key[] = [];
  const unreadable: ReadSecrets['unreadable'][number][] = [];
  for (const secret of secrets) {
    try {
      keys.push(scheme.key(secret));
    } catch (error) {
      if (!(error instanceof ConfigError) || isEmpty(secret)) throw error;
      unreadable.push({ key: textKey(secret), error });
    }
  }
  return { scheme, keys, unreadable };
}

const isEmpty = (secret: Secret): boolean => secret.reveal().trim() === '';

const textKey = (secret: Secret): Key => ({
  secret,
  material: createSecretKey(Buffer.from(secret.reveal())),
});

/** The schemes that are recognized by a header of their own, with its name. */
const headerOf = (): readonly (readonly [scheme: string, header: string])[] =>
  schemeNames.flatMap((name) =>
    name === 'custom' || name === 'token'
      ? []
      : schemeNamed(name)
          .credentialHeaders.slice(0, 1)
          .map((header) => [name, header] as const),
  );

/**
 * Whether there is a secret and nothing says for which scheme. Throws a `ConfigError` where there is neither secret nor
 * token.
 */
export function isSchemeOpen(options: VerifyOptions, settings: Settings): boolean {
  const { webhookScheme = 'token', webhookToken, webhookSecret } = settings;
  if (options.scheme !== undefined || webhookScheme !== 'token') return false;
  if (options.secret.length + options.secretFile.length > 0) return true;
  if (options.token.length + options.tokenFile.length > 0 || webhookToken !== undefined) return false;
  if (webhookSecret !== undefined) return true;
  throw new ConfigError('nothing says with which secret it was sent', {
    hint: 'give --token T or --secret S, or set LEADS_WEBHOOK_TOKEN or LEADS_WEBHOOK_SECRET',
  });
}

/** Lower-case names of the headers by which a scheme is recognized. */
export const tellingHeaders = (): readonly string[] => headerOf().map(([, header]) => header);

/** The scheme whose header the delivery carries; undefined where there is none. Of several with one header, the first. */
export function detectScheme({ rawHeaders }: Pick<Delivery, 'rawHeaders'>): string | undefined {
  const names = new Set(rawHeaders.map(([name]) => name.toLowerCase()));
  return headerOf().find(([, header]) => names.has(header))?.[0];
}
