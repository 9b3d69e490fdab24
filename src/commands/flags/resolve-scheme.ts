import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Settings } from '../../config/load-settings.ts';
import type { Context } from '../../context.ts';
import { ConfigError, UsageError } from '../../errors.ts';
import { unreadable } from '../../files/errors.ts';
import { readDocument } from '../../json/document.ts';
import { didYouMean } from '../../output/suggest.ts';
import type { Secret } from '../../secret.ts';
import { rejectUnableToSign, type Signer } from '../../sender/sign-request.ts';
import { schemeNames } from '../../webhook/vendor-presets.ts';
import { schemeNamed, readSchemeDefinition, type SchemeDefinition } from '../../webhook/scheme-registry.ts';
import { type Scheme, unverified, type Verifier } from '../../webhook/scheme.ts';
import { readSecrets } from './flag-values.ts';
import type { SchemeOptions } from './delivery-flags.ts';

/** A scheme with its secrets as texts: a scheme may refuse to read one. */
export interface SchemeSecrets {
  readonly scheme: Scheme;
  readonly secrets: readonly Secret[];
}

/**
 * Resolves the scheme and its keys: a flag goes before the environment, which goes before the profile. Throws a `ConfigError`
 * (exit 3) when nothing says who may deliver, when a secret is empty or malformed, or when it is a public key and we send; a
 * `UsageError` for flags that contradict each other, or for a scheme that cannot be read. Only `--no-verify` leads to
 * `unverified`.
 */
export async function resolveScheme(
  options: SchemeOptions,
  settings: Settings,
  context: Pick<Context, 'stdin'>,
  role: 'receives' | 'sends' = 'receives',
): Promise<Verifier> {
  const { scheme, secrets } = await resolveSchemeSecrets(options, settings, context, role);
  const keys = secrets.map((secret) => scheme.key(secret));
  const [first] = keys;
  if (role === 'sends' && first !== undefined) rejectUnableToSign(scheme, first);
  return { scheme, keys };
}

/** The scheme and the key that sign deliveries. Only `--no-verify` leaves no key, and deliveries unsigned. */
export async function resolveSigner(
  options: SchemeOptions,
  context: Pick<Context, 'stdin' | 'settings'>,
): Promise<Signer> {
  const { scheme, keys } = await resolveScheme(options, await context.settings(), context, 'sends');
  return { scheme, key: keys[0] };
}

/** Resolves as `resolveScheme` does, for a caller that reports secrets which the scheme cannot read. */
export async function resolveSchemeSecrets(
  options: SchemeOptions,
  settings: Settings,
  context: Pick<Context, 'stdin'>,
  role: 'receives' | 'sends' = 'receives',
): Promise<SchemeSecrets> {
  const typed = options.scheme === undefined ? undefined : await typedScheme(options.scheme, '--scheme');
  if (typed !== undefined) rejectSecretsOfOtherKind(options, typed.name);
  if (!options.verify) return { scheme: unverified, secrets: [] };
  // A name is completed by the options of the profile, if that has the same scheme; JSON holds all options itself.
  const stored = typed === undefined || typed.isName ? await storedScheme(settings) : undefined;
  const name = typed?.name ?? schemeName(options, stored?.name, settings, role);
  const definition = stored?.name === name ? stored : typed;
  const scheme = schemeNamed(name, definition?.options ?? {});
  if (typed !== undefined) rejectUselessTolerance(scheme, typed);
  return { scheme, secrets: await secretsFor(name, options, settings, context) };
}

interface WrittenScheme extends SchemeDefinition {
  readonly isName: boolean;
}

/** Reads a name alone, JSON, or a file that holds JSON. Throws a `ConfigError` for anything else. */
async function readScheme(text: string, where: string): Promise<WrittenScheme> {
  if (schemeNames.includes(text)) return { name: text, options: {}, isName: true };
  const json = await jsonOrFile(text, { where, kind: 'scheme', names: schemeNames });
  return { ...readSchemeDefinition(json), isName: false };
}

const typedScheme = (text: string, where: string): Promise<WrittenScheme> =>
  readScheme(text, where).catch(throwAsUsageError);

/** `webhook.scheme` of the profile. */
const storedScheme = async ({ webhookScheme: text }: Settings): Promise<WrittenScheme | undefined> =>
  text === undefined ? undefined : readScheme(text, 'the setting webhook.scheme');

/**
 * A scheme as `webhook.scheme` keeps it, with the whole path of a file. Throws a `UsageError` for a scheme that `--scheme`
 * refuses.
 */
export async function storableScheme(text: string): Promise<string> {
  const scheme = await typedScheme(text, 'webhook.scheme');
  try {
    rejectUselessTolerance(schemeNamed(scheme.name, scheme.options), scheme);
  } catch (error) {
    throwAsUsageError(error);
  }
  return scheme.isName || isJson(text) ? text : resolve(text);
}

/** A fault in the value of a flag is wrong usage. */
export function throwAsUsageError(error: unknown): never {
  if (!(error instanceof ConfigError)) throw error;
  throw new UsageError(error.message, { ...error.details, cause: error });
}

function rejectUselessTolerance(scheme: Scheme, { options }: SchemeDefinition): void {
  if (options.toleranceMs === undefined || scheme.toleranceMs !== undefined) return;
  throw new UsageError(`tolerance: the scheme '${scheme.name}' signs no time`);
}

const hasToken = (options: SchemeOptions): boolean => options.token.length + options.tokenFile.length > 0;

const hasSecret = (options: SchemeOptions): boolean => options.secret.length + options.secretFile.length > 0;

/** The scheme `token` compares a shared token; every other scheme computes with a secret. */
function rejectSecretsOfOtherKind(options: SchemeOptions, scheme: string): void {
  const isToken = scheme === 'token';
  if (!(isToken ? hasSecret(options) : hasToken(options))) return;
  const flags = isToken ? '--token, not --secret' : '--secret, not --token';
  throw new UsageError(`--scheme ${scheme} takes ${flags}`);
}

function schemeName(
  options: SchemeOptions,
  stored: string | undefined,
  settings: Settings,
  role: 'receives' | 'sends',
): string {
  if (hasToken(options)) return 'token';
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
      hint: `give --token T, or --scheme NAME with --secret S, or set LEADS_WEBHOOK_TOKEN, or type 'leads config set webhook.token'; --no-verify ${receives ? 'takes anything' : 'sends them unsigned'}`,
    },
  );
}

async function secretsFor(
  name: string,
  options: SchemeOptions,
  settings: Settings,
  context: Pick<Context, 'stdin'>,
): Promise<readonly Secret[]> {
  const kind = name === 'token' ? 'token' : 'secret';
  const typed = [...options[kind], ...(await readSecrets(options[`${kind}File`], context))];
  if (typed.length > 0) return typed;
  const stored = name === 'token' ? settings.webhookToken : settings.webhookSecret;
  if (stored !== undefined) return [stored];
  throw new ConfigError(`the scheme '${name}' has no ${kind}`, {
    hint: `give --${kind} or --${kind}-file, or set LEADS_WEBHOOK_${kind.toUpperCase()}`,
  });
}

const isJson = (typed: string): boolean => /^\s*[[{]/.test(typed);

/** For errors: `where` is the flag or the setting that gave the text, `names` what could have been given in place of JSON. */
interface ExpectedJson {
  readonly where: string;
  readonly kind: 'scheme' | 'target';
  readonly names?: readonly string[];
}

/**
 * Parses a text that is JSON, or names a file that holds it. Throws a `ConfigError` that gives the place of the fault and
 * quotes no more than a character: the text may hold a secret.
 */
export async function jsonOrFile(typed: string, expected: ExpectedJson): Promise<unknown> {
  const isText = isJson(typed);
  const content = isText ? Buffer.from(typed) : await readJsonFile(typed, expected);
  const document = readDocument(content, `the ${expected.kind}`);
  if (document.ok) return JSON.parse(document.json.toString('utf8', document.start)) as unknown;
  throw new ConfigError(`${isText ? expected.where : typed}: ${document.detail}`);
}

async function readJsonFile(file: string, { where, kind, names = [] }: ExpectedJson): Promise<Uint8Array> {
  try {
    return await readFile(file);
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code !== 'ENOENT') throw new ConfigError(unreadable(`the ${kind} in ${file}`, cause), { cause });
    // A URL may have been given by mistake, with a password.
    const name = file.replace(/\/\/\S*@/, '//…@');
    throw new ConfigError(`${where}: '${name}' is no ${kind}, and there is no such file`, {
      hint: didYouMean(file, names) ?? `see 'leads help ${kind}s', or give it as JSON or in a file`,
      cause,
    });
  }
}
