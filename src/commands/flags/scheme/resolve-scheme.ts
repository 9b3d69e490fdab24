import type { Settings } from '../../../config/settings.ts';
import type { Context } from '../../../context.ts';
import { ConfigError, UsageError } from '../../../errors.ts';
import { rejectUnableToSign } from '../../../sender/reject-unable-to-sign.ts';
import type { Secret } from '../../../secret.ts';
import type { Scheme, Verifier } from '../../../webhook/scheme.ts';
import { schemeNamed } from '../../../webhook/scheme-registry.ts';
import { schemesWith, strayPart } from '../../../webhook/schemes/scheme-parts.ts';
import { unverified } from '../../../webhook/schemes/unverified.ts';
import { flagName } from '../flag.ts';
import { readSchemeFile } from './scheme-file.ts';
import { partsOfProfile } from './stored-parts.ts';
import type { SchemeOptions } from './scheme-flags.ts';
import { readSecrets } from './secret-files.ts';

/** A scheme, and the secrets that were given for it, before it has read them. */
export interface SchemeSecrets {
  readonly scheme: Scheme;
  readonly secrets: readonly Secret[];
}

/**
 * Flag > scheme file > environment > profile. Throws a `ConfigError` (exit 3) when nothing says who may deliver, when a
 * secret is empty or malformed, or when it is a public key and we send; a `UsageError` for flags that contradict each
 * other, or name a component that we do not send. Only `--no-verify` leads to `unverified`.
 */
export async function resolveScheme(
  given: SchemeOptions,
  settings: Settings,
  context: Pick<Context, 'stdin'>,
  role: 'receives' | 'sends' = 'receives',
): Promise<Verifier> {
  const { scheme, secrets } = await resolveSchemeSecrets(given, settings, context, role);
  const keys = secrets.map((secret) => scheme.key(secret));
  const [first] = keys;
  if (role === 'sends' && first !== undefined)
    rejectUnableToSign(scheme, first, 'give its file with --secret-file');
  return { scheme, keys };
}

/** The same before the secrets are read, for a caller that reports those which the scheme cannot read. */
export async function resolveSchemeSecrets(
  given: SchemeOptions,
  settings: Settings,
  context: Pick<Context, 'stdin'>,
  role: 'receives' | 'sends' = 'receives',
): Promise<SchemeSecrets> {
  const file = given.schemeFile === undefined ? undefined : await readSchemeFile(given.schemeFile);
  if (file !== undefined && given.scheme !== undefined && given.scheme !== file.scheme) {
    throw new UsageError(`--scheme ${given.scheme} contradicts --scheme-file, which says '${file.scheme}'`);
  }
  const options = { ...given, scheme: given.scheme ?? file?.scheme };
  rejectConflicts(options);
  if (!options.verify) return { scheme: unverified, secrets: [] };
  const name = schemeName(options, settings, role);
  rejectStrayParts(options, name);
  // A file is a whole scheme: parts of the profile belong to another one.
  const stored = file?.parts ?? partsOfProfile(settings);
  const scheme = schemeNamed(name, {
    ...stored,
    ...Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)),
    toleranceMs: options.tolerance ?? stored.tolerance,
  });
  if (options.tolerance !== undefined && scheme.toleranceMs === undefined) {
    throw new UsageError(`--tolerance: the scheme '${name}' signs no time`);
  }
  return { scheme, secrets: await secretsFor(name, options, settings, context) };
}

const hasToken = (options: SchemeOptions): boolean => options.token.length + options.tokenFile.length > 0;

const hasSecret = (options: SchemeOptions): boolean => options.secret.length + options.secretFile.length > 0;

function rejectConflicts(options: SchemeOptions): void {
  if (!options.verify && (hasToken(options) || hasSecret(options) || options.scheme !== undefined)) {
    throw new UsageError('--no-verify contradicts --token, --secret and --scheme[-file]');
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

function rejectStrayParts(options: SchemeOptions, name: string): void {
  const stray = strayPart(options, name);
  if (stray === undefined) return;
  const owners = schemesWith(stray).join(' or ');
  throw new UsageError(`--${flagName(stray)} belongs to --scheme ${owners}, and the scheme is '${name}'`);
}

function schemeName(options: SchemeOptions, settings: Settings, role: 'receives' | 'sends'): string {
  if (options.scheme !== undefined) return options.scheme;
  if (hasToken(options)) return 'token';
  const stored = settings.webhookScheme;
  if (hasSecret(options)) {
    if (stored !== undefined && stored !== 'token') return stored;
    throw new UsageError('--secret needs --scheme, which says how it is used', {
      hint: "see 'leads help schemes'",
    });
  }
  // A stored scheme takes precedence over a token in the environment, which may be the weaker proof.
  if (stored !== undefined) return stored;
  if (settings.webhookToken !== undefined) return 'token';
  const receives = role === 'receives';
  throw new ConfigError(
    receives ? 'nothing says who may deliver' : 'nothing says how deliveries are signed',
    {
      hint: `give --token T, or --scheme NAME with --secret S, or set LEADS_WEBHOOK_TOKEN; --no-verify ${receives ? 'takes anything' : 'sends them unsigned'}`,
    },
  );
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
