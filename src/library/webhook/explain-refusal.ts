import { anyScheme } from './any-scheme.ts';
import { explanationText } from '../../messages/explanations.ts';
import { explain as search } from '../../webhook/explain/explain-delivery.ts';
import { checkOptions, verifyOptions } from './option-names.ts';
import { makeVerifier } from './make-verifier.ts';
import { readDelivery } from './read-body.ts';
import type { WebhookRequest } from './request.ts';
import type { VerifyOptions } from './options.ts';

export async function explainRefusal(
  request: WebhookRequest,
  options: VerifyOptions<unknown>,
): Promise<readonly string[]> {
  await checkOptions(options, verifyOptions, 'explain');
  const { now = Date.now() } = options;
  if (typeof options.scheme === 'function') return [];
  const verifier = await makeVerifier(options, anyScheme);
  const delivery = await readDelivery(request, options, now);
  if ('kind' in delivery) return [];
  const { finding } = search(delivery, verifier, now);
  if (finding === undefined) return [];
  const { what, flags } = explanationText(finding);
  return flags === undefined ? [what] : [what, `As flags of 'leads listen': ${flags}`];
}
