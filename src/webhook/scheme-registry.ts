import { ConfigError } from '../errors.ts';
import { underPublicUrl } from './public-url.ts';
import { schemeNames } from './scheme-names.ts';
import type { Scheme } from './scheme.ts';
import { custom, type CustomOptions } from './schemes/custom.ts';
import { github } from './schemes/github.ts';
import { rfc9421 } from './schemes/rfc9421.ts';
import { shopify } from './schemes/shopify.ts';
import { slack } from './schemes/slack.ts';
import { standardWebhooks, svix } from './schemes/standard-webhooks.ts';
import { stripe } from './schemes/stripe.ts';
import { token } from './schemes/token.ts';
import { defaultToleranceMs } from './timestamp.ts';

export interface SchemeOptions extends CustomOptions {
  /** How far a signed time may lie from now, in milliseconds. Default 5 minutes. */
  readonly toleranceMs?: number | undefined;
}

/** Throws a `ConfigError` for a name that is not one of `schemeNames`, and for a custom recipe that does not hold. */
export function schemeNamed(name: string, options: SchemeOptions = {}): Scheme {
  const known = schemeNames.find((one) => one === name);
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
      return underPublicUrl(rfc9421(tolerance, options.secretEncoding ?? 'utf8'));
    case 'custom':
      return underPublicUrl(custom(options, tolerance));
  }
}
