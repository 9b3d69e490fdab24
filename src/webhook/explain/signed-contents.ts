import { type TimestampFormat, timestampFormats } from '../scheme-options.ts';
import type { Delivery } from '../delivery.ts';
import { parseTemplate, valuesOf } from '../schemes/template-scheme.ts';
import { formatTimestamp, isPlausible, parseTimestamp } from '../timestamp.ts';
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
  /** The unit in which the time was signed, where it was sent in another one. */
  readonly timeUnit: TimestampFormat | undefined;
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

/**
 * Everything that may have been signed, the likeliest first: the received body in every template, then with its time in
 * another unit, then other bodies.
 */
export function* signedContents(delivery: Delivery): Generator<SignedContent> {
  const times = [...valuesNamed(delivery, /time|stamp|(^|-)(date|ts)$/i), ...timesInsideSignatures(delivery)];
  const sent = times.map((timestamp) => ({ timestamp, signed: timestamp.value, timeUnit: undefined }));
  const ids = valuesNamed(delivery, /nonce|(^|-)(id|guid|uuid|delivery)$/i);
  yield* filled(delivery, undefined, sent, ids);
  const converted = times.flatMap(inOtherUnits);
  if (converted.length > 0) yield* filled(delivery, undefined, converted, ids);
  for (const body of bodyForms(delivery.body)) yield* filled(delivery, body, sent, ids);
}

/** A time that came, and the text of it that was signed. */
interface SignedTime extends Pick<SignedContent, 'timeUnit'> {
  readonly timestamp: HeaderValue;
  readonly signed: string;
}

function* filled(
  delivery: Delivery,
  body: BodyForm | undefined,
  times: readonly SignedTime[],
  ids: readonly HeaderValue[],
): Generator<SignedContent> {
  const request = { ...delivery, body: body?.bytes ?? delivery.body };
  const isConverted = times[0]?.timeUnit !== undefined;
  for (const { content, template } of templates) {
    const isTimed = template.slots.has('timestamp');
    if (isConverted && !isTimed) continue;
    for (const time of isTimed ? times : [undefined]) {
      for (const id of template.slots.has('id') ? ids : [undefined]) {
        const parts = template.fill(valuesOf(request, time?.signed ?? '', id?.value ?? ''));
        yield { content, timestamp: time?.timestamp, id, body, timeUnit: time?.timeUnit, parts };
      }
    }
  }
}

/** The same time as a sender may have signed it while it sent it in another unit. */
function inOtherUnits(timestamp: HeaderValue): readonly SignedTime[] {
  const ms = timestampFormats.map((format) => parseTimestamp(timestamp.value, format)).find(isPlausible);
  if (ms === undefined) return [];
  return timestampFormats
    .map((timeUnit) => ({ timestamp, signed: formatTimestamp(ms, timeUnit), timeUnit }))
    .filter(({ signed }) => signed !== timestamp.value);
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
