import { ConfigError } from '../errors.ts';
import { tryHttpsUrl } from './schemes/try-https-url.ts';
import { schemeNames } from './scheme-names.ts';
import type { Scheme } from './scheme.ts';
import { custom, type CustomOptions } from './schemes/custom.ts';
import { github } from './presets/github.ts';
import { rfc9421 } from './rfc9421/rfc9421-scheme.ts';
import { shopify } from './presets/shopify.ts';
import { slack } from './presets/slack.ts';
import { standardWebhooks, svix } from './presets/standard-webhooks.ts';
import { stripe } from './presets/stripe.ts';
import { token } from './schemes/token.ts';
import { defaultToleranceMs } from './timestamp.ts';

export interface SchemeOptions extends CustomOptions {
  /** How far a signed time may lie from now, in milliseconds. Default 5 minutes. */
  readonly toleranceMs?: number | undefined;
}

/** Throws a `ConfigError` for a name that is not one of `schemeNames`, and for custom options that are incomplete. */
export function schemeNamed(name: string, options: SchemeOptions = {}): Scheme {
  const known = schemeNames.find((schemeName) => schemeName === name);
  if (known === undefined) {
    throw new ConfigError(`the webhook scheme '${name}' is unknown`, {
      hint: `it must be one of ${schemeNames.join(', ')}`,
    });
  }
  const tolerance = options.toleranceMs ?? defaultToleranceMs;
  switch (known) {
    case 'token':
      return token;
    case 'standard-webhooks':
      return standardWebhooks(tolerance);
    case 'svix':
      return svix(tolerance);
    case 'stripe':
      return stripe(tolerance);
    case 'github':
      return github;
    case 'slack':
      return slack(tolerance);
    case 'shopify':
      return shopify;
    case 'rfc9421':
      return tryHttpsUrl(rfc9421(tolerance, options.secretEncoding ?? 'utf8'));
    case 'custom':
      return tryHttpsUrl(custom(options, tolerance));
  }
}
