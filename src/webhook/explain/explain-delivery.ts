import type { Delivery } from '../delivery.ts';
import type { Key, Scheme, Verification } from '../scheme.ts';
import { schemeNames } from '../scheme-names.ts';
import { schemeNamed } from '../scheme-registry.ts';
import { changedBody, explainChangedDelivery } from './explain-changed-delivery.ts';
import { customFlags } from './custom-flags.ts';
import { explainOtherScheme } from './explain-other-scheme.ts';
import { explainTime } from './explain-time.ts';
import { explainToken } from './explain-token.ts';
import { type SignatureMatch, searchSignature } from './search-signature.ts';
import { secretForms } from './secret-forms.ts';

/**
 * Why a rejected delivery did not verify: sentences for the operator's own terminal, without any secret or signature.
 * Nothing is accepted because of it. `now` in milliseconds; work and output are bounded whatever was sent.
 */
export function explainDelivery(
  delivery: Delivery,
  { scheme, keys }: { readonly scheme: Scheme; readonly keys: readonly Key[] },
  now: number,
): readonly string[] {
  const verification = scheme.authenticate(delivery, keys);
  if (verification.ok) return explainTime(verification, scheme, now);
  const explanation =
    explainToken(delivery, scheme, keys) ??
    explainChangedDelivery(delivery, scheme, keys) ??
    explainSecretForm(delivery, scheme, keys) ??
    explainOtherScheme(delivery, scheme, keys);
  if (explanation !== undefined) return [explanation];
  const match = searchSignature(delivery, keys);
  if (match !== undefined) return describeMatch(match);
  return explainNoMatch(delivery, scheme, verification);
}

/** Tries the same scheme with the secret decoded in another way. */
function explainSecretForm(delivery: Delivery, scheme: Scheme, keys: readonly Key[]): string | undefined {
  const symmetric = keys.filter((key) => key.material.type === 'secret' && scheme.name !== 'token');
  const form = symmetric
    .flatMap((key) => secretForms(key.secret))
    .find(({ key }) => scheme.authenticate(delivery, [key]).ok);
  return form && `It matches with the secret ${form.what}: the sender uses it so.`;
}

function describeMatch(match: SignatureMatch): readonly string[] {
  const { signature, algorithm, key, content, timestamp, id, body } = match;
  const encoding = signature.encoding === 'hex-upper' ? 'upper-case hex' : signature.encoding;
  const inside = timestamp?.prefix === undefined ? '' : `${timestamp.prefix}… in `;
  const where = [
    ...(timestamp === undefined ? [] : [`{timestamp} from ${inside}${timestamp.header}`]),
    ...(id === undefined ? [] : [`{id} from ${id.header}`]),
  ];
  const flags = customFlags(match);
  return [
    `The header ${signature.header} holds a matching ${algorithm} in ${encoding}, made over '${content.replaceAll('\n', '\\n')}'${where.length === 0 ? '' : ` (${where.join(', ')})`} with the secret ${key.what}.`,
    ...(body === undefined ? [] : [changedBody(body.what)]),
    ...(flags === undefined || body !== undefined ? [] : [`To take such deliveries: ${flags}`]),
  ];
}

/** Nothing matches: says at least which scheme the headers look like. */
function explainNoMatch(delivery: Delivery, scheme: Scheme, verification: Verification): readonly string[] {
  const names = delivery.rawHeaders.map(([name]) => name.toLowerCase());
  const similar = schemeNames
    .filter((name) => name !== 'custom' && name !== scheme.name)
    .filter((name) => names.includes(schemeNamed(name).credentialHeaders[0] ?? ''));
  if (similar.length > 0 && !similar.some((name) => sharesHeader(name, scheme))) {
    return [
      `It carries the header of the scheme '${similar.join("' and '")}', but does not match with this secret; the scheme here is '${scheme.name}'.`,
    ];
  }
  if (!verification.ok && verification.reason === 'missing_credential') {
    return [
      `No header holds anything that matches; the scheme '${scheme.name}' reads ${scheme.credentialHeaders.join(', ')}.`,
    ];
  }
  return [
    'No known scheme, encoding or form of the body matches: the sender has another secret, or the body was changed on its way.',
  ];
}

/** Such as GitHub's and Meta's: the header alone does not tell them apart. */
const sharesHeader = (name: string, scheme: Scheme): boolean =>
  schemeNamed(name).credentialHeaders[0] === scheme.credentialHeaders[0];
