import { resolve } from 'node:path';
import type { Settings } from '../../config/load-settings.ts';
import type { Context } from '../../context.ts';
import { ConfigError, UsageError } from '../../errors.ts';
import type { LeadAt } from '../../lead/read-leads.ts';
import type { LeadAtNames } from '../../lead/refusals.ts';
import type { Secret } from '../../secret.ts';
import { rejectUnableToSign, type Signer } from '../../sender/sign-request.ts';
import { schemeNames } from '../../webhook/presets.ts';
import { schemeNamed, readSchemeDefinition, type SchemeDefinition } from '../../webhook/scheme-registry.ts';
import { type Scheme, unverified, type Verifier } from '../../webhook/scheme.ts';
import { isJson, jsonOrFile } from './json-or-file.ts';
import { leadPointer, readSecrets } from './flag-values.ts';
import { type SchemeOptions } from './delivery-flags.ts';

/** A scheme, and the secrets that were given for it, before it has read them. */
export interface SchemeSecrets {
  readonly scheme: Scheme;
  readonly secrets: readonly Secret[];
}

/**
 * Flag > environment > profile. Throws a `ConfigError` (exit 3) when nothing says who may deliver, when a
 * secret is empty or malformed, or when it is a public key and we send; a `UsageError` for flags that contradict each
 * other, or for a scheme that cannot be read. Only `--no-verify` leads to `unverified`.
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
  const own = given.scheme === undefined ? undefined : await typedScheme(given.scheme, '--scheme');
  if (own !== undefined) rejectWrongKind(given, own.name);
  if (!given.verify) return { scheme: unverified, secrets: [] };
  const stored = own === undefined || own.isName ? await storedScheme(settings) : undefined;
  const name = own?.name ?? schemeName(given, stored?.name, settings, role);
  // A scheme that is written down is whole: the options of the profile belong to another one.
  const options = (stored?.name === name ? stored : own)?.options ?? {};
  const scheme = schemeNamed(name, options);
  if (own !== undefined) rejectUselessTolerance(scheme, own);
  return { scheme, secrets: await secretsFor(name, given, settings, context) };
}

interface TypedScheme extends SchemeDefinition {
  /** Nothing but a name was given. */
  readonly isName: boolean;
}

/** `--scheme`: a known name, else JSON, else a file that holds it. Throws a `UsageError` for anything else. */
async function typedScheme(typed: string, where: string): Promise<TypedScheme> {
  if (schemeNames.includes(typed)) return { name: typed, options: {}, isName: true };
  try {
    return { ...readSchemeDefinition(await schemeJson(typed, where)), isName: false };
  } catch (error) {
    throw asUsageError(error);
  }
}

/**
 * A scheme as `webhook.scheme` keeps it, with the whole path of a file. Throws a `UsageError` for what `--scheme` refuses: it
 * may hold a secret, which would be shown.
 */
export async function storableScheme(typed: string): Promise<string> {
  const own = await typedScheme(typed, 'webhook.scheme');
  try {
    rejectUselessTolerance(schemeNamed(own.name, own.options), own);
  } catch (error) {
    throw asUsageError(error);
  }
  return own.isName || isJson(typed) ? typed : resolve(typed);
}

/** What is wrong with the value of a flag, and would be a `ConfigError` in a profile: a file of a newer release is one anyway. */
export const asUsageError = (error: unknown): unknown =>
  error instanceof ConfigError && error.kind !== 'scheme-of-newer-version'
    ? new UsageError(error.message, { ...error.details, cause: error })
    : error;

function rejectUselessTolerance(scheme: Scheme, { options }: SchemeDefinition): void {
  if (options.toleranceMs === undefined || scheme.toleranceMs !== undefined) return;
  throw new UsageError(`tolerance: the scheme '${scheme.name}' signs no time`);
}

/** `webhook.scheme` of the profile, in the same forms. */
const storedScheme = async ({ webhookScheme: typed }: Settings): Promise<SchemeDefinition | undefined> => {
  if (typed === undefined) return undefined;
  if (schemeNames.includes(typed)) return { name: typed, options: {} };
  return readSchemeDefinition(await schemeJson(typed, 'the setting webhook.scheme'));
};

const schemeJson = (typed: string, where: string): Promise<unknown> =>
  jsonOrFile(typed, { where, what: 'scheme', known: schemeNames });

const hasToken = (options: SchemeOptions): boolean => options.token.length + options.tokenFile.length > 0;

const hasSecret = (options: SchemeOptions): boolean => options.secret.length + options.secretFile.length > 0;

function rejectWrongKind(options: SchemeOptions, scheme: string): void {
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

/** Where the leads are in a body, what says so (the flag, or the profile), and which field is their id. */
export function leadPlaceOf({ webhookLead = 'auto', webhookId }: Settings, flag?: LeadAt) {
  const option = '--lead-at';
  const leadAtNames: LeadAtNames = {
    saidBy: flag === undefined ? 'the setting webhook.lead' : option,
    option,
  };
  return {
    // The profile's pointer was checked when the file was read.
    leadAt: flag ?? leadPointer.parse(webhookLead) ?? 'auto',
    leadAtNames,
    idField: { name: webhookId, option: 'the setting webhook.id' },
  };
}
