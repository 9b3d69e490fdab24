import type { Delivery } from '../delivery.ts';
import { parseTemplate, valuesOf } from '../schemes/template.ts';
import { type BodyForm, bodyForms } from './body-forms.ts';

/** A value that a header holds. */
interface HeaderValue {
  readonly header: string;
  /** The text before it, where it is an entry of a header with several: `t=`. */
  readonly prefix: string | undefined;
  readonly value: string;
}

/** Something that may have been signed. */
export interface SignedContent {
  /** The template, such as `{timestamp}.{body}`. */
  readonly content: string;
  readonly timestamp: HeaderValue | undefined;
  readonly id: HeaderValue | undefined;
  /** Undefined: the body as it was received. */
  readonly body: BodyForm | undefined;
  readonly parts: readonly Uint8Array[];
}

const templates = [
  '{body}',
  '{timestamp}.{body}',
  '{id}.{timestamp}.{body}',
  '{timestamp}.{id}.{body}',
  'v0:{timestamp}:{body}',
  '{timestamp}:{body}',
  '{timestamp}{body}',
  '{id}{timestamp}{body}',
  '{timestamp}\n{body}',
  '{body}{timestamp}',
  '{body}.{timestamp}',
  '{id}.{body}',
  '{method}{path}{body}',
  '{method}\n{path}\n{body}',
  '{url}{body}',
  '{path}{body}',
  '{method}{url}{body}{timestamp}',
  '{timestamp}{method}{path}{body}',
  '{timestamp}.{method}.{path}.{body}',
].map((content) => ({ content, template: parseTemplate(content) }));

/** Everything that may have been signed, the likeliest first: the received body in every template, then other bodies. */
export function* signedContents(delivery: Delivery): Generator<SignedContent> {
  const times = [...valuesNamed(delivery, /time|stamp|(^|-)(date|ts)$/i), ...timesInsideSignatures(delivery)];
  const ids = valuesNamed(delivery, /nonce|(^|-)(id|guid|uuid|delivery)$/i);
  for (const body of [undefined, ...bodyForms(delivery.body)]) {
    const request = { ...delivery, body: body?.bytes ?? delivery.body };
    for (const { content, template } of templates) {
      for (const timestamp of template.slots.has('timestamp') ? times : [undefined]) {
        for (const id of template.slots.has('id') ? ids : [undefined]) {
          const parts = template.fill(valuesOf(request, timestamp?.value ?? '', id?.value ?? ''));
          yield { content, timestamp, id, body, parts };
        }
      }
    }
  }
}

/** Times written as `t=…` next to a signature, as Stripe and many others do. */
function timesInsideSignatures(delivery: Delivery): readonly HeaderValue[] {
  return delivery.rawHeaders
    .filter(([name]) => /sig|hmac/i.test(name))
    .flatMap(([name, text]) => {
      const [, prefix, value] = /(?:^|[,; ])((?:t|ts|timestamp)=)([^,; ]{1,200})/.exec(text) ?? [];
      return value === undefined ? [] : [{ header: name.toLowerCase(), prefix, value }];
    })
    .slice(0, 3);
}

function valuesNamed(delivery: Delivery, pattern: RegExp): readonly HeaderValue[] {
  return delivery.rawHeaders
    .filter(([name, value]) => pattern.test(name) && value.length <= 200)
    .slice(0, 3)
    .map(([name, value]) => ({ header: name.toLowerCase(), prefix: undefined, value }));
}
