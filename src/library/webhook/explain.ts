import type { WebhookRequest } from './request/request-types.ts';
import type { VerifyOptions } from './verify-options.ts';

/**
 * What a refused delivery would have matched: another scheme, another encoding of the secret or signature, a body that was
 * changed on its way, a time in another unit. Sentences for the operator, without any secret; none for a delivery that
 * verifies. A bounded search, whose code is loaded at the first call. Accept nothing because of it. Takes a request that
 * `verify` has read. Rejects as `verify` does.
 *
 * @example
 * if (!checked.ok) console.error(checked.hint, await explain(request, options));
 */
export async function explain(request: WebhookRequest, options: VerifyOptions): Promise<readonly string[]> {
  const { explainRefusal } = await import('./explain-refusal.ts');
  return explainRefusal(request, options);
}
