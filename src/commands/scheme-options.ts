import * as z from 'zod/mini';
import { recipeKeys } from '../config/schema.ts';
import type { Settings } from '../config/settings.ts';
import type { Context } from '../context.ts';
import { ConfigError, UsageError } from '../errors.ts';
import { Secret } from '../secret.ts';
import { encodings } from '../webhook/crypto/encoding.ts';
import { algorithms } from '../webhook/crypto/hmac.ts';
import { secretEncodings } from '../webhook/crypto/symmetric-key.ts';
import type { Verifier } from '../webhook/scheme.ts';
import { schemeNamed, schemeNames } from '../webhook/scheme-registry.ts';
import { unverified } from '../webhook/schemes/unverified.ts';
import { timestampFormats } from '../webhook/timestamp.ts';
import { readSecrets } from './secret-source.ts';
import { duration, oneOf, text } from './values.ts';

/** Empty ones pass here: an empty secret is a configuration error of its own, found when the key is made. */
const secrets = () =>
  z._default(
    z.array(
      z.pipe(
        z.string(),
        z.transform((given) => new Secret(given)),
      ),
    ),
    [],
  );

const files = () => z._default(z.array(text()), []);

const recipeShape = {
  signatureHeader: z.optional(text()),
  algorithm: z.optional(oneOf(algorithms)),
  encoding: z.optional(oneOf(encodings)),
  prefix: z.optional(z.string()),
  signedContent: z.optional(text()),
  timestampHeader: z.optional(text()),
  timestampFormat: z.optional(oneOf(timestampFormats)),
  nonceHeader: z.optional(text()),
  secretEncoding: z.optional(oneOf(secretEncodings)),
};

/** Spread into a command's `options`: `z.object({ ...schemeShape, … })`; its flags are `addSchemeFlags`. */
export const schemeShape = {
  verify: z._default(z.boolean(), true),
  token: secrets(),
  tokenFile: files(),
  scheme: z.optional(oneOf(schemeNames)),
  secret: secrets(),
  secretFile: files(),
  tolerance: z.optional(duration()),
  ...recipeShape,
};

export type SchemeFlags = z.output<z.ZodMiniObject<typeof schemeShape>>;

/**
 * Flag > environment > profile. Throws a `ConfigError` (exit 3) when nothing says who may deliver, or a secret is empty or
 * malformed; a `UsageError` for flags that contradict each other. Only `--no-verify` leads to `unverified`.
 */
export async function resolveScheme(
  options: SchemeFlags,
  settings: Settings,
  context: Pick<Context, 'stdin'>,
): Promise<Verifier> {
  refuseConflicts(options);
  if (!options.verify) return { scheme: unverified, keys: [] };
  const name = schemeName(options, settings);
  if (name !== 'custom') refuseRecipe(options, name);
  const stored = storedRecipe(settings);
  const scheme = schemeNamed(name, {
    ...stored,
    ...Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)),
    toleranceMs: options.tolerance ?? stored.tolerance,
  });
  if (options.tolerance !== undefined && scheme.toleranceMs === undefined) {
    throw new UsageError(`--tolerance: the scheme '${name}' signs no time`);
  }
  const given = await givenSecrets(name, options, settings, context);
  return { scheme, keys: given.map((secret) => scheme.key(secret)) };
}

const hasToken = (options: SchemeFlags): boolean => options.token.length + options.tokenFile.length > 0;

const hasSecret = (options: SchemeFlags): boolean => options.secret.length + options.secretFile.length > 0;

function refuseConflicts(options: SchemeFlags): void {
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

function refuseRecipe(options: SchemeFlags, name: string): void {
  const stray = recipeKeys.find(
    (key) => options[key] !== undefined && !(key === 'secretEncoding' && name === 'rfc9421'),
  );
  if (stray === undefined) return;
  const flag = stray.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  throw new UsageError(`--${flag} belongs to --scheme custom, and the scheme is '${name}'`);
}

/** The recipe of the profile: a flag of the same name goes before each part. */
function storedRecipe(settings: Settings): z.output<typeof storedSchema> {
  const parsed = z.safeParse(storedSchema, settings.webhookRecipe);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  const key = String(issue?.path[0] ?? '');
  throw new ConfigError(
    `the profile's webhook.${key === 'tolerance' ? '' : 'custom.'}${key}: ${issue?.message ?? ''}`,
  );
}

const storedSchema = z.object({ ...recipeShape, tolerance: z.optional(duration()) });

function schemeName(options: SchemeFlags, settings: Settings): string {
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

async function givenSecrets(
  name: string,
  options: SchemeFlags,
  settings: Settings,
  context: Pick<Context, 'stdin'>,
): Promise<readonly Secret[]> {
  const what = name === 'token' ? 'token' : 'secret';
  const given = [...options[what], ...(await readSecrets(options[`${what}File`], context))];
  if (given.length > 0) return given;
  const stored = name === 'token' ? settings.webhookToken : settings.webhookSecret;
  if (stored !== undefined) return [stored];
  throw new ConfigError(`the scheme '${name}' has no ${what}`, {
    hint: `give --${what} or --${what}-file, or set LEADS_WEBHOOK_${what.toUpperCase()}`,
  });
}
