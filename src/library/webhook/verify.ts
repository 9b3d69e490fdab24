import type { WebhookRequest } from './request/request-types.ts';
import type { Refused, Verified, VerifyOptions } from './verify-options.ts';

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
export async function verify(request: WebhookRequest, options: VerifyOptions): Promise<Verified | Refused> {
  const { verifyDelivery } = await import('./verify-delivery.ts');
  return verifyDelivery(request, options);
}
