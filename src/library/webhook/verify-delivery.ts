import { checkCredential, checkDelivery } from '../../webhook/check-delivery.ts';
import type { Rejection } from '../../webhook/delivery-answer.ts';
import { checkOptions, verifyOptions } from './option-names.ts';
import { type Lead, LazyLead } from './lead.ts';
import type { Fitted } from './lead-schema.ts';
import { leadPlace, makeVerifier, type OtherSchemes } from './make-verifier.ts';
import { readDelivery } from './read-body.ts';
import type { WebhookRequest } from './request.ts';
import type { Refused, Verified, VerifyOptions } from './options.ts';

export async function verifyDelivery<Output>(
  request: WebhookRequest,
  options: VerifyOptions<Output>,
  others: OtherSchemes,
): Promise<Verified<Output> | Refused> {
  await checkOptions(options, verifyOptions, 'verify');
  const { now = Date.now(), schema } = options;
  const fitAll = schema && (await import('./lead-schema.ts')).fitterOf(schema);
  const { scheme, keys } = await makeVerifier(options, others);
  const idField =
    options.idField === undefined
      ? { name: 'id', option: 'idField' }
      : (await import('./id-field-option.ts')).idFieldOption(options.idField);
  const asked = { path: undefined, scheme, keys, ...leadPlace(options.leadAt), idField };
  const delivery = await readDelivery(request, options, now);
  if ('kind' in delivery) return refused(delivery);
  const verified = await scheme.verify?.(delivery);
  const policy = { ...asked, ...(verified && { scheme: { ...scheme, authenticate: () => verified } }) };
  const checked =
    options.lead === false ? checkCredential(delivery, policy, now) : checkDelivery(delivery, policy, now);
  if ('reason' in checked) return refused(checked);
  const found = 'leads' in checked ? checked.leads : [];
  const leads = found.map(({ leadId, lead }) => new LazyLead(leadId, lead.bytes));
  await fitAll?.(leads);
  return { ok: true, leads: leads as unknown as readonly Fitted<Lead, Output>[], secret: checked.key };
}

const refused = ({ status, reason, detail }: Rejection): Refused => ({
  ok: false,
  status,
  reason,
  hint: detail,
});
