import type { Delivery } from '../delivery.ts';
import { equalInConstantTime } from '../crypto/constant-time-equal.ts';
import { hmac } from '../crypto/hmac.ts';
import type { Key } from '../scheme.ts';
import { parseTemplate, valuesOf } from '../schemes/template.ts';
import { type BodyForm, bodyForms } from './body-forms.ts';
import { type CandidateMac, candidateMacs } from './candidate-macs.ts';
import { type SecretForm, secretForms } from './secret-forms.ts';

/** An HMAC scheme in which the delivery would have verified. */
export interface HmacMatch {
  readonly signature: CandidateMac;
  readonly secret: SecretForm;
  readonly content: string;
  readonly timestampHeader: string | undefined;
  readonly timestamp: string | undefined;
  readonly idHeader: string | undefined;
  /** Undefined: the body as it was received. */
  readonly body: BodyForm | undefined;
}

interface HeaderValue {
  readonly header: string | undefined;
  readonly value: string;
}

const contents = [
  '{body}',
  '{timestamp}.{body}',
  '{id}.{timestamp}.{body}',
  '{timestamp}.{id}.{body}',
  'v0:{timestamp}:{body}',
  '{timestamp}:{body}',
  '{timestamp}{body}',
  '{timestamp}\n{body}',
  '{body}{timestamp}',
  '{body}.{timestamp}',
  '{id}.{body}',
  '{method}{path}{body}',
  '{method}\n{path}\n{body}',
  '{url}{body}',
  '{path}{body}',
  '{timestamp}{method}{path}{body}',
  '{timestamp}.{method}.{path}.{body}',
] as const;

const templates = contents.map((content) => ({ content, template: parseTemplate(content) }));

/** Bytes that may be hashed for one explanation: about 30 ms, whatever was sent. */
const maxHashedBytes = 16 * 1024 * 1024;

/** The likeliest scheme that makes one of the MACs in the headers; undefined when none does, within the limit of work. */
export function searchHmac(delivery: Delivery, keys: readonly Key[]): HmacMatch | undefined {
  const candidates = candidateMacs(delivery);
  const algorithms = [...new Set(candidates.map((candidate) => candidate.algorithm))];
  const secrets = keys
    .filter((key) => key.material.type === 'secret')
    .flatMap((key) => secretForms(key.secret));
  let hashedBytes = 0;
  for (const { parts, ...content } of signedContents(delivery)) {
    for (const algorithm of algorithms) {
      for (const secret of secrets) {
        hashedBytes += 500 + (content.body?.bytes ?? delivery.body).length;
        if (hashedBytes > maxHashedBytes) return undefined;
        const mac = hmac(algorithm, secret.key, parts);
        const signature = candidates.find(({ bytes }) => equalInConstantTime(mac, bytes));
        if (signature !== undefined) return { signature, secret, ...content };
      }
    }
  }
  return undefined;
}

type SignedContent = Pick<HmacMatch, 'content' | 'body' | 'timestamp' | 'timestampHeader' | 'idHeader'>;

/** Everything that may have been signed, the likeliest first: the received body in every template, then other bodies. */
function* signedContents(
  delivery: Delivery,
): Generator<SignedContent & { readonly parts: readonly Uint8Array[] }> {
  const stamps = [
    ...valuesNamed(delivery, /time|stamp|(^|-)(date|ts)$/i),
    ...timesInsideSignatures(delivery),
  ];
  const ids = valuesNamed(delivery, /nonce|(^|-)(id|guid|uuid|delivery)$/i);
  for (const body of [undefined, ...bodyForms(delivery.body)]) {
    for (const { content, template } of templates) {
      const withStamps = template.slots.has('timestamp') ? stamps : [undefined];
      const withIds = template.slots.has('id') ? ids : [undefined];
      for (const [stamp, id] of withStamps.flatMap((value) =>
        withIds.map((other) => [value, other] as const),
      )) {
        const request = { ...delivery, body: body?.bytes ?? delivery.body };
        const parts = template.fill(valuesOf(request, stamp?.value ?? '', id?.value ?? ''));
        const timestamp = stamp?.value;
        yield { parts, content, body, timestamp, timestampHeader: stamp?.header, idHeader: id?.header };
      }
    }
  }
}

/** Times written as `t=…` next to a signature, as Stripe and many others do. */
function timesInsideSignatures(delivery: Delivery): readonly HeaderValue[] {
  return delivery.rawHeaders
    .filter(([name]) => /sig|hmac/i.test(name))
    .map(([, value]) => /(?:^|[,; ])(?:t|ts|timestamp)=([^,; ]{1,200})/.exec(value)?.[1])
    .filter((value) => value !== undefined)
    .slice(0, 3)
    .map((value) => ({ header: undefined, value }));
}

function valuesNamed(delivery: Delivery, pattern: RegExp): readonly HeaderValue[] {
  return delivery.rawHeaders
    .filter(([name, value]) => pattern.test(name) && value.length <= 200)
    .slice(0, 3)
    .map(([name, value]) => ({ header: name.toLowerCase(), value }));
}
