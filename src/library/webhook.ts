/**
 * `leads-cli/webhook`: is a delivery genuine, and which leads does it bring? Without dependencies, for Node and runtimes with
 * `node:crypto` (Bun, Deno); those that have WebCrypto alone are not served.
 */
import { anyScheme } from './webhook/any-scheme.ts';
import type {
  Refused,
  SignedDelivery,
  SignedLead,
  SignOptions,
  Verified,
  VerifyOptions,
} from './webhook/options.ts';
import type { WebhookRequest } from './webhook/request.ts';

export { ConfigError, LeadsError } from '../errors.ts';
export type { RejectReason } from '../webhook/delivery-answer.ts';
export type { Lead, LeadFields } from './webhook/lead.ts';
export type { Fitted, LeadIssue, LeadSchema } from './webhook/lead-schema.ts';
export type {
  OwnReason,
  OwnRequest,
  OwnVerifier,
  Refused,
  RequestLimits,
  SchemeChoice,
  SchemeDefinition,
  SchemeName,
  SecretInput,
  SignedDelivery,
  SignedLead,
  SignOptions,
  Verified,
  VerifyOptions,
} from './webhook/options.ts';
export { ParsedBodyError } from './webhook/parsed-body-error.ts';
export type { FetchRequest, NodeRequest, PlainRequest, WebhookRequest } from './webhook/request.ts';

/**
 * Checks one delivery over its raw bytes: method, signature, content type, signed time, JSON and the lead's id, in this
 * order (specification, section 4.2). What a sender can cause is a value; rejects with a `ParsedBodyError` where something
 * read the body before, and with a `ConfigError` for options or a request that are none. Its code is loaded at the first call.
 *
 * @example
 * const checked = await verify(request, { scheme: 'stripe', secrets: process.env.WEBHOOK_SECRET });
 * if (!checked.ok) return new Response(checked.reason, { status: checked.status });
 * for (const lead of checked.leads) console.log(lead.id, lead.value.category);
 */
export async function verify<Output = never>(
  request: WebhookRequest,
  options: VerifyOptions<Output>,
): Promise<Verified<Output> | Refused> {
  const { verifyDelivery } = await import('./webhook/verify-delivery.ts');
  return verifyDelivery(request, options, anyScheme);
}

/**
 * What a refused delivery would have matched: another scheme, another encoding of the secret or signature, a body that was
 * changed on its way, a time in another unit. Sentences for the operator, without any secret; none for a delivery that
 * verifies. A bounded search, whose code is loaded at the first call. Accept nothing because of it. Takes a request that
 * `verify` has read. Rejects as `verify` does.
 *
 * @example
 * if (!checked.ok) console.error(checked.hint, await explain(request, options));
 */
export async function explain(
  request: WebhookRequest,
  options: VerifyOptions<unknown>,
): Promise<readonly string[]> {
  const { explainRefusal } = await import('./webhook/explain-refusal.ts');
  return explainRefusal(request, options);
}

/**
 * Signs a delivery with the code that verifies one: for tests of a receiver. Its code is loaded at the first call. Rejects
 * with a `ConfigError` for a key that cannot sign, and as `verify` does for other options.
 *
 * @example
 * await fetch(url, await sign({ id: 'lead_1', category: 'solar' }, { scheme: 'svix', secrets: secret }));
 */
export async function sign(lead: SignedLead, options: SignOptions): Promise<SignedDelivery> {
  const { signDelivery } = await import('./webhook/sign-delivery.ts');
  return signDelivery(lead, options);
}
