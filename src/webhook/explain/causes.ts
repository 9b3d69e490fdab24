import { type Delivery, headerValues } from '../delivery.ts';
import { presets } from '../vendor-presets.ts';
import type { Scheme } from '../scheme.ts';
import {
  type Algorithm,
  algorithms,
  type CustomOptions,
  type Encoding,
  encodings,
  type SecretEncoding,
  timestampFormats,
} from '../scheme-options.ts';
import { bodyForms } from './body-forms.ts';
import { decode, hasLengthOf } from '../crypto/signature.ts';

/** A scheme in the JSON that `--scheme` takes, such as `{"scheme":"github"}`. */
export type SchemeJson = Readonly<Record<string, string | undefined>>;

/** `text` completes "with the secret …". `shell` makes the changed secret from `$SECRET`, in any POSIX shell. */
export interface SecretChange {
  readonly text: string;
  readonly apply: (secret: string) => string;
  readonly shell: string;
}

/** A change to try: it is the cause if the delivery verifies with it. What is absent stays as it is. */
export interface Cause {
  readonly sentence: string;
  readonly scheme?: SchemeJson | undefined;
  readonly secret?: SecretChange | undefined;
  /** The body that was signed. No setting of a receiver mends a body that was changed on its way. */
  readonly body?: Uint8Array;
}

/** The causes with the smallest change come first. */
export function* possibleCauses(delivery: Delivery, scheme: Scheme): Generator<Cause> {
  yield* otherBodies(delivery, scheme);
  for (const secret of secretChanges) {
    yield { sentence: `It matches with the secret ${secret.text}: the sender uses it so.`, secret };
  }
  yield* otherUrls(delivery, scheme);
  yield* otherTokens(delivery, scheme);
  yield* otherSchemes(delivery, scheme);
  yield* otherTimeFormats(scheme);
  yield* otherRecipes(delivery, scheme);
}

/** The scheme with its time in another format: seconds that are read as milliseconds are never in time. */
export function* otherTimeFormats(scheme: Scheme): Generator<Cause> {
  if (scheme.recipe === undefined) return;
  const usedFormat = scheme.recipe.timestampFormat ?? 'unix';
  const nameOf = (format: string): string => (format === 'unix' ? 'seconds' : format);
  for (const format of timestampFormats) {
    if (format === usedFormat) continue;
    const owner = scheme.name === 'custom' ? '' : `: ${scheme.name} signs another unit`;
    const sentence = `The signature matches; its time is in ${nameOf(format)} and was read as ${nameOf(usedFormat)}${owner}.`;
    const timestampFormat = format === 'unix' ? undefined : format;
    yield { sentence, scheme: { ...recipeJson(scheme), timestampFormat } };
  }
}

function* otherBodies(delivery: Delivery, scheme: Scheme): Generator<Cause> {
  if (scheme.ignoresBody === true) return;
  for (const { text, bytes } of bodyForms(delivery.body)) {
    const sentence = `The signature was made over ${text}, not over the bytes that came: sign what is sent, or look for what changed it on its way.`;
    yield { sentence, body: bytes };
  }
}

const secretChanges: readonly SecretChange[] = [
  {
    text: 'without the blanks at its ends',
    apply: (secret) => secret.replace(/[ \t\r\n]/g, ''),
    shell: String.raw`"$(printf %s "$SECRET" | tr -d ' \t\r\n')"`,
  },
  {
    text: 'with a line break at its end',
    apply: (secret) => `${secret}\n`,
    // The usual IFS is a blank, a tab and a line break; `$(…)` would lose a line break at its end.
    shell: '"$SECRET${IFS#??}"',
  },
  {
    text: 'without the quotes around it',
    apply: (secret) => secret.replace(/^(["'])(.*)\1$/s, '$2'),
    shell: '"$(s=${SECRET#?}; printf %s "${s%?}")"',
  },
  {
    text: "without its 'whsec_'",
    apply: (secret) => secret.replace(/^whsec_/, ''),
    shell: '"${SECRET#whsec_}"',
  },
  { text: "with 'whsec_' before it", apply: (secret) => `whsec_${secret}`, shell: '"whsec_$SECRET"' },
  {
    text: "without its 'v1,'",
    apply: (secret) => secret.replace(/^v1a?,/, ''),
    shell: '"${SECRET#v1*,}"',
  },
  { text: 'in single quotes', apply: (secret) => `'${secret}'`, shell: `"'$SECRET'"` },
  { text: 'in double quotes', apply: (secret) => `"${secret}"`, shell: `'"'"$SECRET"'"'` },
];

/** These limit the work, which a sender must not decide. */
const mostHosts = 4;
const mostHeaders = 20;

/** A proxy that ends TLS, or forwards under another host, changes the URL that is signed. */
function* otherUrls(delivery: Delivery, { name, signsUrl }: Scheme): Generator<Cause> {
  if (!signsUrl || !URL.canParse(delivery.url)) return;
  const hosts = ['x-forwarded-host', 'x-original-host', 'host'].flatMap((header) =>
    headerValues(delivery, header),
  );
  for (const host of [...hosts.slice(0, mostHosts), new URL(delivery.url).host]) {
    const isHost = /^[\w.:[\]-]{1,253}$/.test(host);
    for (const protocol of isHost ? ['https', 'http'] : []) {
      const publicUrl = `${protocol}://${host}${delivery.path.replace(/[?#].*$/, '')}`;
      const sentence = `The signature was made for ${publicUrl}, but the delivery came to ${delivery.url}: something in front changed it.`;
      yield { sentence, scheme: { scheme: name, publicUrl } };
    }
  }
}

/** The sender may have sent the secret itself, alone or after a word, in any header. */
function* otherTokens(delivery: Delivery, { name, credentialHeaders }: Scheme): Generator<Cause> {
  for (const [header, value] of delivery.rawHeaders.slice(0, mostHeaders)) {
    const tokenHeader = header.toLowerCase();
    const sentence = (place: string): string =>
      name === 'token'
        ? `The right token came in the header ${place}, not by itself in ${credentialHeaders[0] ?? ''}.`
        : `The secret itself came in the header ${place}: it was sent as a token, and nothing was signed with it.`;
    const scheme = { scheme: 'token', tokenHeader };
    yield { sentence: sentence(tokenHeader), scheme };
    const [word] = /^[A-Za-z]{1,20} +/.exec(value) ?? [];
    if (word === undefined) continue;
    const place = `${tokenHeader} behind a word such as 'Bearer'`;
    yield { sentence: sentence(place), scheme, secret: secretBehind(word) };
  }
}

const secretBehind = (word: string): SecretChange => ({
  text: `behind '${word}'`,
  apply: (secret) => word + secret,
  shell: `"${word}$SECRET"`,
});

/** The presets whose header was sent, and Standard Webhooks with headers of a vendor's own name. */
function* otherSchemes(delivery: Delivery, { name: schemeName }: Scheme): Generator<Cause> {
  const sent = new Set(delivery.rawHeaders.map(([header]) => header.toLowerCase()));
  for (const { name, signatureHeader, otherNames = [] } of presets) {
    const headers = [signatureHeader, ...otherNames.map((names) => names.signatureHeader)];
    if (name === schemeName || !headers.some((header) => sent.has(header))) continue;
    const sentence = `It matches under the scheme '${name}', and the scheme here is '${schemeName}'.`;
    yield { sentence, scheme: { scheme: name } };
  }
  for (const [header] of delivery.rawHeaders.slice(0, mostHeaders)) {
    const headerPrefix = /^(.{1,60})-signature$/i.exec(header)?.[1]?.toLowerCase();
    if (headerPrefix === undefined) continue;
    const sentence = `It matches under the scheme 'standard-webhooks' with its headers named ${headerPrefix}-….`;
    yield { sentence, scheme: { scheme: 'standard-webhooks', headerPrefix } };
  }
}

/** The scheme itself, and one for each candidate signature, with every encoding of the secret. */
function* otherRecipes(delivery: Delivery, scheme: Scheme): Generator<Cause> {
  const definition = recipeJson(scheme);
  const candidates = candidateSignatures(delivery).flatMap((candidate) =>
    candidateRecipe(candidate, definition),
  );
  const isRecipe = definition.signatureHeader !== undefined;
  for (const recipe of isRecipe ? [definition, ...candidates] : candidates) {
    for (const secretEncoding of ['utf8', 'base64', 'hex', 'whsec'] as const) {
      yield {
        sentence: recipeSentence(recipe, secretEncoding),
        scheme: {
          ...definition,
          ...recipe,
          encoding: recipe.encoding === 'hex' ? undefined : recipe.encoding,
          prefix: recipe.prefix === '' ? undefined : recipe.prefix,
          secretEncoding: secretEncoding === 'utf8' ? undefined : secretEncoding,
        },
      };
    }
  }
}

/** The options of a scheme that reads this signature; none where no prefix describes its place. */
function candidateRecipe(candidate: CandidateSignature, definition: CustomOptions): readonly CustomOptions[] {
  const { header, prefix, encoding, separator, algorithms } = candidate;
  if (prefix === undefined) return [];
  const [algorithm] = algorithms.includes('hmac-sha256') ? [undefined] : algorithms;
  const entrySeparator = definition.timestampPrefix === undefined ? separator : definition.separator;
  return [{ signatureHeader: header, prefix, encoding, separator: entrySeparator, algorithm }];
}

function recipeSentence(recipe: CustomOptions, secretEncoding: SecretEncoding): string {
  const { signatureHeader = '', algorithm = 'hmac-sha256', encoding = 'hex', prefix = '' } = recipe;
  const form = encoding === 'hex-upper' ? 'capital letters' : encoding;
  const place = prefix === '' ? '' : ` behind '${prefix}'`;
  const base = secretEncoding === 'hex' ? 'hex' : 'base64';
  const reading = secretEncoding === 'utf8' ? 'taken as text' : `decoded from ${base}`;
  return `The header ${signatureHeader} holds a matching ${algorithm} in ${form}${place}, with the secret ${reading}.`;
}

/** The JSON of the scheme `custom` that does what this one does. Empty for a scheme without a recipe, such as `token`. */
function recipeJson({ recipe }: Scheme): CustomOptions & SchemeJson {
  if (recipe === undefined) return {};
  const { signatureHeader, algorithm, encoding, prefix, separator, content, secretEncoding } = recipe;
  const { timestampHeader, timestampPrefix, timestampFormat, nonceHeader } = recipe;
  const isTimed = timestampHeader !== undefined || timestampPrefix !== undefined;
  const defaultContent = isTimed ? '{timestamp}.{body}' : '{body}';
  return {
    ...{ signatureHeader, algorithm, encoding, separator, prefix: prefix === '' ? undefined : prefix },
    signedContent: content === defaultContent ? undefined : content.replaceAll('\n', '\\n'),
    ...{ timestampHeader, timestampPrefix, timestampFormat, nonceHeader, secretEncoding },
  };
}

/**
 * A text in a header that may be a signature, with the options of a scheme that would read it there. `algorithms`
 * are those whose signatures may have its length. `prefix` is the text before it in its entry of the header, and
 * undefined where no prefix describes its place; `separator` is between the entries, and undefined for one alone.
 */
export interface CandidateSignature {
  readonly header: string;
  readonly bytes: Buffer;
  readonly algorithms: readonly Algorithm[];
  readonly encoding: Encoding;
  readonly prefix: string | undefined;
  readonly separator: string | undefined;
}

const headersWithoutSignature =
  /^(host|connection|date|user-agent|accept.*|content-.*|cookie|x-forwarded-.*|via|forwarded)$/i;

/** These limit the work, which a sender must not decide. */
const mostCandidates = 8;
const longestValue = 1000;

/** Hex, base64 or base64url. SHA-1, the shortest digest, has 20 bytes: 27 characters of base64 without padding. */
const encodedSignature = /[A-Za-z0-9+/_-]{27,}={0,2}/g;

/** Finds the texts in all headers that have the form and length of a signature, the first eight at most. */
export function candidateSignatures(delivery: Pick<Delivery, 'rawHeaders'>): readonly CandidateSignature[] {
  const candidates: CandidateSignature[] = [];
  for (const [name, value] of delivery.rawHeaders) {
    if (headersWithoutSignature.test(name) || value.length > longestValue) continue;
    for (const match of value.matchAll(encodedSignature)) {
      if (candidates.length === mostCandidates) return candidates;
      const [text] = match;
      const signature = decodeSignature(text);
      if (signature === undefined) continue;
      const place = placeBetween(value.slice(0, match.index), value.slice(match.index + text.length));
      candidates.push({ header: name.toLowerCase(), ...place, ...signature });
    }
  }
  return candidates;
}

/**
 * Describes the place of a signature by the texts before and after it in the header. It may be the whole value, with a prefix that may
 * end in a comma (`sha256=SIG`, `v1,SIG`); an entry of Standard Webhooks, with a space between entries (`v1,SIG v1a,SIG`); an entry of
 * any other list (`t=1, v1=SIG`, `SIG;SIG`); the end of another text, which is the prefix then (`{"sig":"SIG`); or have text after it
 * (`sig="SIG"`), so that no prefix describes it.
 */
function placeBetween(before: string, after: string): Pick<CandidateSignature, 'prefix' | 'separator'> {
  const isAlone = after === '' && /^[\w-]{0,20}[=,:]?$/.test(before);
  if (isAlone) return { prefix: before, separator: undefined };
  const versionPrefix = /(?:^| )(v\d+a?,)$/.exec(before)?.[1];
  if (versionPrefix !== undefined && /^(?: |$)/.test(after)) return { prefix: versionPrefix, separator: ' ' };
  const entryStart = /([;, ]) *([^;, ]*)$/.exec(before);
  const separator = entryStart?.[1] ?? after.slice(0, 1);
  const isWholeEntry = /^[;, ]$/.test(separator) && (after === '' || after.startsWith(separator));
  if (isWholeEntry) return { prefix: entryStart?.[2] ?? before, separator };
  return { prefix: after === '' ? before : undefined, separator: undefined };
}

function decodeSignature(
  text: string,
): Pick<CandidateSignature, 'bytes' | 'algorithms' | 'encoding'> | undefined {
  for (const encoding of encodings) {
    const bytes = decode(text, encoding);
    if (bytes === undefined) continue;
    const ofLength = algorithms.filter((algorithm) => hasLengthOf(algorithm, bytes));
    // Only a signature in DER has a length that varies with its bytes; it starts with the tag of a sequence, 0x30.
    const fitting = ofLength.filter((name) => name !== 'ecdsa-p256-sha256-der' || bytes[0] === 0x30);
    if (fitting.length > 0) return { bytes, algorithms: fitting, encoding };
  }
  return undefined;
}
