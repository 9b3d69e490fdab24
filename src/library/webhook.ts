/**
 * `leads-cli/webhook` tells whether a delivery is genuine, and which leads it brings. It has no dependencies
 * and runs on Node and on runtimes with `node:crypto` (Bun, Deno), but not on those that have WebCrypto
 * alone.
 */
import { randomUUID } from 'node:crypto';
import { ConfigError } from '../errors.ts';
import { signRequest } from '../sender/sign-request.ts';
import { checkCredential, checkDelivery } from '../webhook/check-delivery.ts';
import type { Rejection } from '../webhook/delivery-answer.ts';
import { bytesOfLead, LazyLead } from './webhook/lead.ts';
import {
  checkOptions,
  choiceOptionNames,
  type OptionNames,
  type Refused,
  type SchemeChoice,
  type SignedDelivery,
  type SignedLead,
  type SignOptions,
  type Verified,
  type VerifyOptions,
  verifyOptionNames,
} from './webhook/options.ts';
import { readDelivery } from './webhook/read-body.ts';
import type { WebhookRequest } from './webhook/request.ts';
import { leadPlace, makeVerifier } from './webhook/verifier.ts';

export { ConfigError, LeadsError } from '../errors.ts';
export type { RejectReason } from '../webhook/delivery-answer.ts';
export type { Lead, LeadFields } from './webhook/lead.ts';
export type {
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
export { ParsedBodyError } from './webhook/read-body.ts';
export type { FetchRequest, NodeRequest, PlainRequest, WebhookRequest } from './webhook/request.ts';

/**
 * Checks one delivery over its raw bytes: method, signature, content type, signed time, JSON and the lead's
 * id, in this order (specification, section 4.2). Whatever a sender can cause is a `Refused`. The promise
 * rejects with a `ParsedBodyError` where something read the body before, with a `ConfigError` for an unknown
 * scheme, an unusable secret or a value that is no request, and with a `TypeError` for an option that is
 * misspelt.
 *
 * @example
 * const checked = await verify(request, { scheme: 'stripe', secrets: process.env.WEBHOOK_SECRET });
 * if (!checked.ok) return new Response(checked.reason, { status: checked.status });
 * for (const lead of checked.leads) console.log(lead.id, lead.value.category);
 */
export async function verify(request: WebhookRequest, options: VerifyOptions): Promise<Verified | Refused> {
  checkOptions(options, verifyOptionNames, 'verify');
  const { now = Date.now() } = options;
  const policy = { path: undefined, ...makeVerifier(options), ...leadPlace(options) };
  const delivery = await readDelivery(request, options, now);
  if ('kind' in delivery) return refused(delivery);
  const checked =
    options.lead === false ? checkCredential(delivery, policy, now) : checkDelivery(delivery, policy, now);
  if ('reason' in checked) return refused(checked);
  const checkedLeads = 'leads' in checked ? checked.leads : [];
  const leads = checkedLeads.map(({ leadId, lead }) => new LazyLead(leadId, lead.bytes));
  return { ok: true, leads, secret: checked.key };
}

const refused = ({ status, reason, detail }: Rejection): Refused => ({
  ok: false,
  status,
  reason,
  hint: detail,
});

/**
 * Searches for the settings under which a refused delivery verifies: another scheme, another encoding of the
 * secret or signature, a body that was changed on its way, a time in another unit. Returns sentences for the
 * operator, which hold no secret, and none for a delivery that verifies. The search is bounded, and its code
 * loads at the first call. It takes a request that `verify` has read, and rejects as `verify` does. Never
 * accept a delivery because of it.
 *
 * @example
 * if (!checked.ok) console.error(checked.hint, await explain(request, options));
 */
export async function explain(request: WebhookRequest, options: VerifyOptions): Promise<readonly string[]> {
  checkOptions(options, verifyOptionNames, 'explain');
  const { now = Date.now() } = options;
  const verifier = makeVerifier(options);
  const delivery = await readDelivery(request, options, now);
  if ('kind' in delivery) return [];
  const [{ explain: search }, { explanationLines }] = await Promise.all([
    import('../webhook/explain/explain-delivery.ts'),
    import('../output/explanation.ts'),
  ]);
  return explanationLines(search(delivery, verifier, now), 'linux');
}

const signOptionNames: OptionNames<SignOptions & SchemeChoice> = {
  ...choiceOptionNames,
  url: true,
  id: true,
  now: true,
};

/**
 * Signs a delivery with the code that verifies one, for tests of a receiver. The promise rejects with a
 * `ConfigError` for a key that cannot sign, and as `verify` does for other options.
 *
 * @example
 * await fetch(url, await sign({ id: 'lead_1', category: 'solar' }, { scheme: 'svix', secrets: secret }));
 */
// eslint-disable-next-line @typescript-eslint/require-await -- every failure is a rejection, as those of verify are.
export async function sign(lead: SignedLead, options: SignOptions): Promise<SignedDelivery> {
  checkOptions(options, signOptionNames, 'sign');
  const { url, id = `msg_${randomUUID().replaceAll('-', '')}`, now = Date.now() } = options;
  const { scheme, keys } = makeVerifier({ scheme: options.scheme, secrets: options.secrets });
  if (scheme.signsUrl && url === undefined) {
    throw new ConfigError(`the scheme '${scheme.name}' signs the URL, and none is given`, {
      hint: 'give url, the address that the delivery is sent to',
    });
  }
  const body = Uint8Array.from(bytesOfLead(lead));
  const target = new URL(url ?? 'https://localhost/').href;
  const signed = signRequest({ scheme, key: keys[0] }, { id, target, body }, now);
  const headers = signed.headers.map(([name, value]) => [name.toLowerCase(), value] as const);
  return { method: 'POST', headers: Object.fromEntries(headers), body };
}
