import type { Settings } from '../../config/settings.ts';
import type { Context } from '../../context.ts';
import { ConfigError, UsageError } from '../../errors.ts';
import type { Secret } from '../../secret.ts';
import type { Verifier } from '../../webhook/scheme.ts';
import { schemeNames } from '../../webhook/scheme-names.ts';
import { schemeNamed } from '../../webhook/scheme-registry.ts';
import { unverified } from '../../webhook/schemes/unverified.ts';
import { flagName, type OptionsOf } from './flag.ts';
import { customSchemeFlags, type SchemeOptions, schemeFlags } from './scheme-flags.ts';
import { readSecrets } from './secret-files.ts';

/**
 * Flag > environment > profile. Throws a `ConfigError` (exit 3) when nothing says who may deliver, or a secret is empty or
 * malformed; a `UsageError` for flags that contradict each other. Only `--no-verify` leads to `unverified`.
 */
export async function resolveScheme(
  options: SchemeOptions,
  settings: Settings,
  context: Pick<Context, 'stdin'>,
): Promise<Verifier> {
  rejectConflicts(options);
  if (!options.verify) return { scheme: unverified, keys: [] };
  const name = schemeName(options, settings);
  if (name !== 'custom') rejectCustomFlags(options, name);
  const stored = storedParts(settings);
  const scheme = schemeNamed(name, {
    ...stored,
    ...Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)),
    toleranceMs: options.tolerance ?? stored.tolerance,
  });
  if (options.tolerance !== undefined && scheme.toleranceMs === undefined) {
    throw new UsageError(`--tolerance: the scheme '${name}' signs no time`);
  }
  const secrets = await secretsFor(name, options, settings, context);
  return { scheme, keys: secrets.map((secret) => scheme.key(secret)) };
}

const hasToken = (options: SchemeOptions): boolean => options.token.length + options.tokenFile.length > 0;

const hasSecret = (options: SchemeOptions): boolean => options.secret.length + options.secretFile.length > 0;

function rejectConflicts(options: SchemeOptions): void {
  if (!options.verify && (hasToken(options) || hasSecret(options) || options.scheme !== undefined)) {
    throw new UsageError('--no-verify contradicts --token, --secret and --scheme');
  }
  if (hasToken(options) && hasSecret(options)) {
    throw new UsageError('--token and --secret are two ways to authenticate: give one');
  }
  if (hasToken(options) && options.scheme !== undefined && options.scheme !== 'token') {
    throw new UsageError(`--scheme ${options.scheme} takes --secret, not --token`);
  }
  if (hasSecret(options) && options.scheme === 'token') {
    throw new UsageError('--scheme token takes --token, not --secret');
  }
}

type CustomSchemeKey = keyof typeof customSchemeFlags;
const customSchemeKeys = Object.keys(customSchemeFlags) as CustomSchemeKey[];

function rejectCustomFlags(options: SchemeOptions, name: string): void {
  const stray = customSchemeKeys.find(
    (key) => options[key] !== undefined && !(key === 'secretEncoding' && name === 'rfc9421'),
  );
  if (stray === undefined) return;
  throw new UsageError(`--${flagName(stray)} belongs to --scheme custom, and the scheme is '${name}'`);
}

const storedTypes = { ...customSchemeFlags, tolerance: schemeFlags('').tolerance };
type StoredParts = Partial<OptionsOf<typeof storedTypes>>;

/** The profile's own parts of a scheme, as texts; each is checked as the flag of that name is. */
function storedParts({ webhookCustom: stored }: Settings): StoredParts {
  const parts = Object.entries(storedTypes).flatMap(([key, { type }]) => {
    const text = stored[key as keyof typeof stored];
    if (text === undefined) return [];
    const value = type.parse(text);
    if (value !== undefined) return [[key, value] as const];
    const setting = key === 'tolerance' ? 'webhook.tolerance' : `webhook.custom.${key}`;
    throw new ConfigError(`the setting ${setting}: '${text}' is not ${type.expected}`, {
      hint: `change it with 'leads config set ${setting} …'`,
    });
  });
  return Object.fromEntries(parts);
}

function schemeName(options: SchemeOptions, settings: Settings): string {
  if (options.scheme !== undefined) return options.scheme;
  if (hasToken(options)) return 'token';
  const stored = settings.webhookScheme;
  if (hasSecret(options)) {
    if (stored !== undefined && stored !== 'token') return stored;
    throw new UsageError('--secret needs --scheme, which says how it is used', {
      hint: `--scheme is one of ${schemeNames.filter((name) => name !== 'token').join(', ')}`,
    });
  }
  // A stored scheme stands against a token in the environment: a token alone may be the weaker proof.
  if (stored !== undefined) return stored;
  if (settings.webhookToken !== undefined) return 'token';
  throw new ConfigError('nothing says who may deliver', {
    hint: 'give --token T, or --scheme NAME with --secret S, or set LEADS_WEBHOOK_TOKEN; --no-verify takes anything',
  });
}

async function secretsFor(
  name: string,
  options: SchemeOptions,
  settings: Settings,
  context: Pick<Context, 'stdin'>,
): Promise<readonly Secret[]> {
  const what = name === 'token' ? 'token' : 'secret';
  const typed = [...options[what], ...(await readSecrets(options[`${what}File`], context))];
  if (typed.length > 0) return typed;
  const stored = name === 'token' ? settings.webhookToken : settings.webhookSecret;
  if (stored !== undefined) return [stored];
  throw new ConfigError(`the scheme '${name}' has no ${what}`, {
    hint: `give --${what} or --${what}-file, or set LEADS_WEBHOOK_${what.toUpperCase()}`,
  });
}
