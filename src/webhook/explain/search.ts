import type { Delivery } from '../delivery.ts';
import { equal } from '../equal.ts';
import { hmac } from '../hmac.ts';
import type { Key } from '../scheme.ts';
import { parseTemplate, valuesOf } from '../template.ts';
import { type BodyForm, bodyForms } from './body-forms.ts';
import { type GivenSignature, givenSignatures } from './given-signatures.ts';
import { type SecretForm, secretForms } from './secret-forms.ts';

/** A recipe under which the delivery would have verified. */
export interface Found {
  readonly signature: GivenSignature;
  readonly secret: SecretForm;
  readonly content: string;
  readonly timestampHeader: string | undefined;
  readonly timestamp: string | undefined;
  readonly idHeader: string | undefined;
  /** Undefined: the body as it came. */
  readonly body: BodyForm | undefined;
}

interface Named {
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

/** Bytes that may be hashed for one explanation: some 30 ms, whatever was sent. */
const budget = 16 * 1024 * 1024;

/** The likeliest recipe that makes one of the signatures in the headers; undefined when none does, within the budget. */
export function searchRecipe(delivery: Delivery, keys: readonly Key[]): Found | undefined {
  const given = givenSignatures(delivery);
  const algorithms = [...new Set(given.map((one) => one.algorithm))];
  const secrets = keys
    .filter((key) => key.material.type === 'secret')
    .flatMap((key) => secretForms(key.secret));
  let spent = 0;
  for (const { parts, ...reading } of readings(delivery)) {
    for (const algorithm of algorithms) {
      for (const secret of secrets) {
        spent += 500 + (reading.body?.bytes ?? delivery.body).length;
        if (spent > budget) return undefined;
        const mac = hmac(algorithm, secret.key, parts);
        const signature = given.find((one) => equal(mac, one.bytes));
        if (signature !== undefined) return { signature, secret, ...reading };
      }
    }
  }
  return undefined;
}

type Reading = Pick<Found, 'content' | 'body' | 'timestamp' | 'timestampHeader' | 'idHeader'>;

/** Everything that may have been signed, the likeliest first: the body as it came under every template, then others. */
function* readings(delivery: Delivery): Generator<Reading & { readonly parts: readonly Uint8Array[] }> {
  const stamps = [...named(delivery, /time|stamp|(^|-)(date|ts)$/i), ...insideSignatures(delivery)];
  const ids = named(delivery, /nonce|(^|-)(id|guid|uuid|delivery)$/i);
  for (const body of [undefined, ...bodyForms(delivery.body)]) {
    for (const { content, template } of templates) {
      const withStamps = template.slots.has('timestamp') ? stamps : [undefined];
      const withIds = template.slots.has('id') ? ids : [undefined];
      for (const [stamp, id] of withStamps.flatMap((one) => withIds.map((other) => [one, other] as const))) {
        const request = { ...delivery, body: body?.bytes ?? delivery.body };
        const parts = template.fill(valuesOf(request, stamp?.value ?? '', id?.value ?? ''));
        const timestamp = stamp?.value;
        yield { parts, content, body, timestamp, timestampHeader: stamp?.header, idHeader: id?.header };
      }
    }
  }
}

/** Stripe's way, which many follow: `t=…` beside the signature. */
function insideSignatures(delivery: Delivery): readonly Named[] {
  return delivery.rawHeaders
    .filter(([name]) => /sig|hmac/i.test(name))
    .map(([, value]) => /(?:^|[,; ])(?:t|ts|timestamp)=([^,; ]{1,200})/.exec(value)?.[1])
    .filter((value) => value !== undefined)
    .slice(0, 3)
    .map((value) => ({ header: undefined, value }));
}

function named(delivery: Delivery, pattern: RegExp): readonly Named[] {
  return delivery.rawHeaders
    .filter(([name, value]) => pattern.test(name) && value.length <= 200)
    .slice(0, 3)
    .map(([name, value]) => ({ header: name.toLowerCase(), value }));
}
