import {
  type Algorithm,
  algorithms,
  type Encoding,
  encodings,
  timestampFormats,
  type TimestampFormat,
} from '../scheme-options.ts';
import { isPlausible, parseTimestamp, formatTimestamp } from '../timestamp.ts';
import { hasLengthOf, verifier, decode } from '../crypto/signature.ts';
import type { Delivery } from '../delivery.ts';
import type { Fix, Search } from './finding.ts';
import type { KeyForm } from './secret-forms.ts';
import { parseTemplate } from '../schemes/template-scheme.ts';
import { type BodyForm, bodyForms } from './body-forms.ts';

/** A scheme in which the delivery would have verified. */
interface SignatureMatch extends SignedContent {
  readonly signature: CandidateSignature;
  readonly algorithm: Algorithm;
  readonly key: KeyForm;
}

/**
 * The scheme `custom` that accepts such deliveries; undefined where it cannot. `here`: the scheme that the secret was
 * given for.
 */
export function customFix(match: SignatureMatch, here: string): Fix | undefined {
  const { signature, algorithm, key, content, timestamp, id } = match;
  if (signature.prefix === undefined || match.timeUnit !== undefined) return undefined;
  const isInside = timestamp?.prefix !== undefined;
  if (isInside && (timestamp.header !== signature.header || signature.prefix === '')) return undefined;
  const format = timestampFormats.find(
    (candidate) => timestamp !== undefined && isPlausible(parseTimestamp(timestamp.value, candidate)),
  );
  if (timestamp !== undefined && format === undefined) return undefined;
  const usual = timestamp === undefined ? '{body}' : '{timestamp}.{body}';
  const { separator } = signature;
  return {
    here,
    scheme: 'custom',
    options: {
      signatureHeader: signature.header,
      algorithm: unless('hmac-sha256', algorithm),
      encoding: unless('hex', signature.encoding),
      prefix: unless('', signature.prefix),
      separator: isInside ? unless(',', separator) : separator,
      signedContent: unless(usual, content)?.replaceAll('\n', '\\n'),
      timestampPrefix: timestamp?.prefix,
      timestampHeader: isInside ? undefined : timestamp?.header,
      timestampFormat: unless('unix', format),
      nonceHeader: id?.header,
      secretEncoding: unless('utf8', key.encoding),
    },
    secret: key.secret,
  };
}

/** The value, where it is not the usual one, which need not be said. */
const unless = <T>(usual: T, value: T | undefined): T | undefined => (value === usual ? undefined : value);

/** Bytes that may be hashed for one explanation: about 30 ms, whatever was sent. */
const maxHashedBytes = 16 * 1024 * 1024;

/** One asymmetric check takes as long as hashing so many bytes. */
const asymmetricCost = 100_000;

/** The likeliest scheme that makes one of the signatures in the headers; undefined when none does, within the limit. */
export function searchSignature(
  delivery: Delivery,
  forms: readonly KeyForm[],
  search: Search,
): SignatureMatch | undefined {
  const candidates = candidateSignatures(delivery);
  let hashedBytes = 0;
  for (const content of signedContents(delivery)) {
    for (const key of forms) {
      for (const algorithm of key.algorithms) {
        const fitting = candidates.filter((candidate) => candidate.algorithms.includes(algorithm));
        if (fitting.length === 0) continue;
        const checks = key.key.material.type === 'secret' ? 0 : fitting.length;
        hashedBytes += 500 + checks * asymmetricCost + (content.body?.bytes ?? delivery.body).length;
        if (hashedBytes > maxHashedBytes) return undefined;
        search.tried += 1;
        const matches = verifier(algorithm, key.key, content.parts);
        const signature = fitting.find(({ bytes }) => matches(bytes));
        if (signature !== undefined) return { signature, algorithm, key, ...content };
      }
    }
  }
  return undefined;
}

/** A part of a header that has the form of a signature. */
interface CandidateSignature {
  readonly header: string;
  readonly bytes: Buffer;
  /** Those whose signatures have such a length. */
  readonly algorithms: readonly Algorithm[];
  readonly encoding: Encoding;
  /** The text before it in its entry of the header; undefined when there is text after it as well. */
  readonly prefix: string | undefined;
  /** Between the entries of the header, where it has several. */
  readonly separator: string | undefined;
}

const withoutSignature =
  /^(host|connection|date|user-agent|accept.*|content-.*|cookie|x-forwarded-.*|via|forwarded)$/i;

/** A limit, so that a sender cannot decide how much work an explanation is. */
const mostCandidates = 8;

/** Every value in the headers that could be a signature. */
export function candidateSignatures(delivery: Pick<Delivery, 'rawHeaders'>): readonly CandidateSignature[] {
  const candidates: CandidateSignature[] = [];
  for (const [name, value] of delivery.rawHeaders) {
    if (withoutSignature.test(name) || value.length > 1000) continue;
    for (const match of value.matchAll(/[A-Za-z0-9+/_-]{26,}={0,2}/g)) {
      const signature = decodeSignature(match[0]);
      if (signature === undefined || candidates.length >= mostCandidates) continue;
      const end = match.index + match[0].length;
      const place = entryAround(value.slice(0, match.index), value.slice(end));
      candidates.push({ header: name.toLowerCase(), ...place, ...signature });
    }
  }
  return candidates;
}

/** What stands around a signature in the value of its header. */
function entryAround(before: string, after: string): Pick<CandidateSignature, 'prefix' | 'separator'> {
  // A single comma may belong to the prefix, as in 'v1,'.
  if (after === '' && /^[\w-]{0,20}[=,:]?$/.test(before)) return { prefix: before, separator: undefined };
  const [, separator = after.slice(0, 1), prefix = before] = /([;, ]) *([^;, ]*)$/.exec(before) ?? [];
  if (!/^[;, ]$/.test(separator) || (after !== '' && !after.startsWith(separator))) {
    return { prefix: after === '' ? before : undefined, separator: undefined };
  }
  return { prefix, separator };
}

function decodeSignature(
  text: string,
): Pick<CandidateSignature, 'bytes' | 'algorithms' | 'encoding'> | undefined {
  for (const encoding of encodings) {
    const bytes = decode(text, encoding);
    if (bytes === undefined) continue;
    const possible = algorithms.filter((algorithm) => hasLengthOf(algorithm, bytes));
    // Only DER has a length that is not fixed; it starts with a sequence.
    const fitting = possible.filter((name) => name !== 'ecdsa-p256-sha256-der' || bytes[0] === 0x30);
    if (fitting.length > 0) return { bytes, algorithms: fitting, encoding };
  }
  return undefined;
}

/** A value that a header holds. */
interface HeaderValue {
  readonly header: string;
  /** The text before it, where it is an entry of a header with several: `t=`. */
  readonly prefix: string | undefined;
  readonly value: string;
}

/** Something that may have been signed. */
interface SignedContent {
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
function* signedContents(delivery: Delivery): Generator<SignedContent> {
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
        const parts = template.fill(request, time?.signed ?? '', id?.value ?? '');
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
