/**
 * `leads-cli/shared-secret`: `verify` of `leads-cli/webhook` for the token and the vendors' schemes with a shared secret, without
 * the code of all others: for functions that are bundled to one small file.
 */
import { ConfigError } from '../errors.ts';
import type { OtherSchemes } from './webhook/make-verifier.ts';
import type { Refused, Verified, VerifyOptions } from './webhook/options.ts';
import type { WebhookRequest } from './webhook/request.ts';

export { ConfigError, LeadsError } from '../errors.ts';
export type { Refused, SchemeName, Verified, VerifyOptions } from './webhook/options.ts';
export type { Lead, LeadFields } from './webhook/lead.ts';
export type { Fitted, LeadIssue, LeadSchema } from './webhook/lead-schema.ts';
export { ParsedBodyError } from './webhook/parsed-body-error.ts';
export type { WebhookRequest } from './webhook/request.ts';

/**
 * As `verify` of `leads-cli/webhook`; rejects with a `ConfigError` for a scheme with a public key, for one that is defined by its
 * parts, and with `publicUrl`.
 *
 * @example
 * const checked = await verify(request, { scheme: 'github', secrets: process.env.WEBHOOK_SECRET });
 */
export async function verify<Output = never>(
  request: WebhookRequest,
  options: VerifyOptions<Output>,
): Promise<Verified<Output> | Refused> {
  const { verifyDelivery } = await import('./webhook/verify-delivery.ts');
  return verifyDelivery(request, options, sharedSecret);
}

const noOther = (given: unknown): never => {
  const what = typeof given === 'string' ? `the scheme '${given}', as it is asked for,` : 'what scheme says';
  throw new ConfigError(`${what} is more than a shared secret`, {
    hint: "use verify of 'leads-cli/webhook'",
  });
};

const sharedSecret: OtherSchemes = {
  defined: () => Promise.resolve({ definedScheme: noOther }),
  own: () => Promise.resolve({ ownVerifier: noOther }),
  errors: () => import('./webhook/secret-errors.ts'),
};
