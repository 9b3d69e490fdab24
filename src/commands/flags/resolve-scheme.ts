import { readFile } from 'node:fs/promises';
import type { Settings } from '../../config/settings.ts';
import { duration } from '../../config/value-types.ts';
import type { Context } from '../../context.ts';
import { ConfigError, UsageError } from '../../errors.ts';
import type { Secret } from '../../secret.ts';
import { rejectUnableToSign, type Signer } from '../../sender/sign-request.ts';
import { schemeNames } from '../../webhook/presets.ts';
import {
  type PartKey,
  schemePartKeys,
  schemeParts,
  settingPathOf,
  strayPart,
} from '../../webhook/scheme-options.ts';
import { schemeNamed } from '../../webhook/scheme-registry.ts';
import { type Scheme, unverified, type Verifier } from '../../webhook/scheme.ts';
import { flagName, type OptionsOf } from './flag.ts';
import { type SchemeOptions, schemePartFlags } from './scheme-flags.ts';
import { readSecrets } from './secret-files.ts';
import { rejectFirst } from './shared-flags.ts';

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
  if (role === 'sends' && first !== undefined) rejectUnableToSign(scheme, first);
  return { scheme, keys };
}

/** How deliveries are sent; without a secret they are not signed. */
export async function resolveSigner(
  given: SchemeOptions,
  context: Pick<Context, 'stdin' | 'settings'>,
): Promise<Signer> {
  const { scheme, keys } = await resolveScheme(given, await context.settings(), context, 'sends');
  return { scheme: keys.length > 0 ? scheme : unverified, key: keys[0] };
}

/** The scheme before the secrets are read, for a caller that reports those which the scheme cannot read. */
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
  const { scheme, verify } = options;
  rejectFirst(
    [
      !verify && (hasToken(options) || hasSecret(options) || scheme !== undefined),
      '--no-verify contradicts --token, --secret and --scheme[-file]',
    ],
    [hasToken(options) && hasSecret(options), '--token and --secret are two ways to authenticate: give one'],
    [
      hasToken(options) && scheme !== undefined && scheme !== 'token',
      `--scheme ${scheme ?? ''} takes --secret, not --token`,
    ],
    [hasSecret(options) && scheme === 'token', '--scheme token takes --token, not --secret'],
  );
}

function rejectStrayParts(options: SchemeOptions, name: string): void {
  const stray = strayPart(options, name);
  if (stray === undefined) return;
  const owners = schemeParts[stray].of.join(' or ');
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

/** A scheme that is kept in a file of its own. */
interface SchemeFile {
  /** Default `custom`. */
  readonly scheme: string;
  readonly parts: StoredParts;
}

/**
 * Reads `--scheme-file`: a JSON object with the names of the flags in camelCase, every value a text, and perhaps `scheme`
 * and `tolerance`. Throws a `ConfigError` for anything else: a misspelt part would check less than was meant.
 */
async function readSchemeFile(path: string): Promise<SchemeFile> {
  const { scheme = 'custom', ...texts } = asTexts(await parse(path), path);
  if (!schemeNames.includes(scheme)) {
    throw new ConfigError(`${path}: the scheme '${scheme}' is unknown`, {
      hint: `it must be one of ${schemeNames.join(', ')}`,
    });
  }
  const known = [...schemePartKeys, 'tolerance'];
  const stray = Object.keys(texts).find((key) => !known.some((name) => name === key));
  if (stray !== undefined) {
    throw new ConfigError(`${path}: '${stray}' is no part of a scheme`, {
      hint: /secret|token/i.test(stray)
        ? 'a secret is given by --secret-file or LEADS_WEBHOOK_SECRET, not in this file'
        : `the parts are scheme, ${known.join(', ')}`,
    });
  }
  const parts = parseParts(
    texts,
    (key, text, expected) => new ConfigError(`${path}: ${key} '${text}' is not ${expected}`),
  );
  const ignored = strayPart(parts, scheme);
  if (ignored !== undefined)
    throw new ConfigError(`${path}: ${ignored} is no part of the scheme '${scheme}'`);
  return { scheme, parts };
}

async function parse(path: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as unknown;
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    const what = cause instanceof SyntaxError ? 'it is not JSON' : (code ?? String(cause));
    throw new ConfigError(`cannot read the scheme in ${path}: ${what}`, { cause });
  }
}

function asTexts(json: unknown, path: string): Readonly<Record<string, string>> {
  const entries =
    typeof json === 'object' && json !== null && !Array.isArray(json) ? Object.entries(json) : undefined;
  if (entries === undefined) throw new ConfigError(`${path}: a scheme is a JSON object`);
  return Object.fromEntries(
    entries.map(([key, value]) => {
      if (typeof value === 'string') return [key, value];
      throw new ConfigError(`${path}: ${key} is not a text`, { hint: `write it as "${key}": "…"` });
    }),
  );
}

const storedTypes = { ...schemePartFlags, tolerance: { value: 'duration', type: duration } } as const;

/** Parts of a scheme that are stored in a profile or a file. */
type StoredParts = Partial<OptionsOf<typeof storedTypes>>;

/** Checks parts that are stored as texts as the flags of those names are checked; `fail` makes the error of one. */
function parseParts(
  texts: Readonly<Record<string, string | undefined>>,
  fail: (key: PartKey | 'tolerance', text: string, expected: string) => ConfigError,
): StoredParts {
  const parts = [...schemePartKeys, 'tolerance' as const].flatMap((key) => {
    const text = texts[key];
    if (text === undefined) return [];
    const { type } = storedTypes[key];
    const value = type.parse(text);
    if (value === undefined) throw fail(key, text, type.expected);
    return [[key, value] as const];
  });
  return Object.fromEntries(parts);
}

/** The profile's own parts of a scheme. */
function partsOfProfile({ webhookCustom, webhookParts }: Settings): StoredParts {
  return parseParts({ ...webhookCustom, ...webhookParts }, (key, text, expected) => {
    const setting = (key === 'tolerance' ? ['webhook', key] : settingPathOf(key)).join('.');
    return new ConfigError(`the setting ${setting}: '${text}' is not ${expected}`, {
      hint: `change it with 'leads config set ${setting} …'`,
    });
  });
}
