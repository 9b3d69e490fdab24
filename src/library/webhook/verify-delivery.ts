import { checkDelivery } from '../../webhook/check-delivery.ts';
import type { Rejection } from '../../webhook/rejection.ts';
import { LazyLead } from '../lead/lazy-lead.ts';
import { leadPlace } from './lead-place.ts';
import { makeVerifier } from './make-verifier.ts';
import { withOptionNames } from './option-names.ts';
import { readDelivery } from './read-delivery.ts';
import type { WebhookRequest } from './request/request-types.ts';
import type { Refused, Verified, VerifyOptions } from './verify-options.ts';

export async function verifyDelivery(
  request: WebhookRequest,
  options: VerifyOptions,
): Promise<Verified | Refused> {
  const { now = Date.now() } = options;
  const verifier = await makeVerifier(options);
  const policy = { path: undefined, ...verifier, ...leadPlace(options.leadAt) };
  const delivery = await readDelivery(request, options, now);
  if ('kind' in delivery) return refused(delivery);
  const checked = checkDelivery(delivery, policy, now);
  if (checked.kind === 'rejected') return refused(checked);
  const leads = checked.leads.map(({ leadId, lead }) => new LazyLead(leadId, lead.bytes));
  return { ok: true, leads, secret: checked.key };
}

const refused = ({ status, reason, detail }: Rejection): Refused => ({
  ok: false,
  status,
  reason,
  hint: withOptionNames(detail),
});
