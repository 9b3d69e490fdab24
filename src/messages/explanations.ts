import { shellWord } from '../output/curl-command.ts';
import type { BodyFormName } from '../webhook/explain/body-form-names.ts';
import type {
  CaptureFix,
  CustomMatch,
  Finding,
  Fix,
  Found,
  SecretChange,
} from '../webhook/explain/finding.ts';
import type { TimestampFormat } from '../webhook/scheme-options.ts';

/** How another body differs from the one that came; completes "the signature was made over …". */
export const bodyFormTexts: Readonly<Record<BodyFormName, string>> = {
  'no-line-break': 'the body without its line break at the end',
  'line-break': 'the body with a line break at its end',
  'crlf-line-break': 'the body with CR LF at its end',
  lf: 'the body with LF for CR LF',
  crlf: 'the body with CR LF for LF',
  'no-bom': 'the body without its byte order mark',
  bom: 'the body with a byte order mark before it',
  decompressed: 'the body before it was compressed',
  'utf8-replaced': 'the body with its invalid UTF-8 replaced',
  'utf8-twice': 'the body in Latin-1, written as UTF-8 once more',
  latin1: 'the body in Latin-1 instead of UTF-8',
  empty: 'an empty body',
  'json-stringify': 'the JSON written again without white space, as JSON.stringify does',
  minified: 'the JSON without its white space',
  'indent-2': 'the JSON written again with two blanks of indentation',
  'indent-4': 'the JSON written again with four blanks of indentation',
  python: 'the JSON written again as Python does, with json.dumps',
  'python-unicode': 'the JSON written again as Python does, with json.dumps and ensure_ascii=False',
  ascii: 'the JSON written again without white space and with \\u escapes',
  php: 'the JSON written again as PHP does, with json_encode',
  'php-unicode': 'the JSON written again as PHP does, with json_encode and JSON_UNESCAPED_UNICODE',
  go: 'the JSON written again as Go does, with < > & escaped',
  rails: 'the JSON written again as Rails does, with < > & escaped',
  dotnet: 'the JSON written again as .NET does, with System.Text.Json',
  sorted: 'the JSON written again with its keys sorted',
  'python-sorted': 'the JSON written again as Python does, with json.dumps and sort_keys=True',
  'go-sorted': 'the JSON written again as Go does from a map: keys sorted, < > & escaped',
  unquoted: 'the text that the body holds as a JSON string',
};

interface SecretText {
  /** Completes "with the secret …". */
  readonly what: string;
  /** Makes the secret to give from `$SECRET`, in any shell of POSIX; absent where it stays as it is given. */
  readonly shell?: string;
  /** Completes "the secret that was given, …", where `what` says how it is read and not what to give. */
  readonly given?: string;
}

/** The usual IFS is a blank, a tab and a line break; `$(…)` would lose a line break at its end. */
const lineBreak = '${IFS#??}';

const withoutBlanks = String.raw`"$(printf %s "$SECRET" | tr -d ' \t\r\n')"`;

const secretTexts: Readonly<Record<SecretChange['to'], SecretText | ((text: string) => SecretText)>> = {
  text: { what: 'taken as text' },
  base64: { what: 'decoded from base64' },
  hex: { what: 'decoded from hex' },
  'key-pair': { what: 'taken as a public or private key' },
  'without-whsec': { what: "without its 'whsec_'", shell: '"${SECRET#whsec_}"' },
  'with-whsec': { what: "with 'whsec_' before it", shell: '"whsec_$SECRET"' },
  'without-version': (version) => ({
    what: `without its '${version},'`,
    shell: `"\${SECRET#${version},}"`,
  }),
  base64url: {
    what: 'decoded from base64url',
    shell: '"$(printf %s "${SECRET#whsec_}" | tr -- -_ +/)"',
    given: "in base64 instead of base64url, without a 'whsec_'",
  },
  'without-blanks': { what: 'without the blanks at its ends', shell: withoutBlanks },
  'without-blanks-base64': {
    what: 'without the blanks at its ends, decoded from base64',
    shell: withoutBlanks,
    given: 'without the blanks at its ends',
  },
  'without-quotes': { what: 'without the quotes around it', shell: '"$(s=${SECRET#?}; printf %s "${s%?}")"' },
  'in-single-quotes': { what: 'in quotes', given: 'in single quotes', shell: `"'$SECRET'"` },
  'in-double-quotes': { what: 'in quotes', given: 'in double quotes', shell: `'"'"$SECRET"'"'` },
  'with-line-break': { what: 'with a line break at its end', shell: `"$SECRET${lineBreak}"` },
  'with-crlf': { what: 'with CR LF at its end', shell: `"$SECRET$(printf '\\r')${lineBreak}"` },
  'base64-of-hex': {
    what: 'written in base64 instead of hex',
    shell: String.raw`"$(printf '%s\n' "$SECRET" | fold -w 2 | while read -r x; do printf "\\$(printf %o "0x$x")"; done | base64 | tr -d '\n')"`,
  },
  'hex-of-base64': {
    what: 'written in hex instead of base64',
    shell: '"$(printf %s "$SECRET" | base64 -d | od -An -v -tx1 | tr -d \' \\n\')"',
  },
  'behind-word': (word) => ({ what: `behind '${word}'`, shell: `"${word}$SECRET"` }),
};

function secretText({ to, text = '' }: SecretChange): SecretText {
  const found = secretTexts[to];
  return typeof found === 'function' ? found(text) : found;
}

const behindWord = (isWhole: boolean): string => (isWhole ? '' : " behind a word such as 'Bearer'");

const changedBody = (body: BodyFormName): string =>
  `The signature was made over ${bodyFormTexts[body]}, not over the bytes that came: sign what is sent, or look for what changed it on its way.`;

const unitName = (unit: TimestampFormat): string => (unit === 'unix' ? 'seconds' : unit);

const alikes = {
  quotes: 'the quotes around it',
  percent: 'percent-encoding',
  case: 'capital and small letters',
  blanks: 'white space',
} as const;

/** One sentence for the operator of a receiver. */
function problemSentence(found: Found): string {
  switch (found.kind) {
    case 'capital-letters':
      return 'The signature is right, but written in capital letters.';
    case 'other-url':
      return `The signature was made for ${found.signed}, but the delivery came to ${found.received}: something in front changed it.`;
    case 'changed-body':
      return changedBody(found.body);
    case 'secret-form':
      return `It matches with the secret ${secretText(found.secret).what}: the sender uses it so.`;
    case 'other-scheme':
      return `It matches under the scheme '${found.scheme}', and the scheme here is '${found.here}'.`;
    case 'other-brand':
      return `It matches under the scheme 'standard-webhooks' with its headers named ${found.brand}-….`;
    case 'secret-sent':
      return `The secret itself came in the header ${found.header}${behindWord(found.isWhole)}: it was sent as a token, and nothing was signed with it.`;
    case 'token-elsewhere':
      return `The right token came in the header ${found.header}${behindWord(found.isWhole)}, not by itself in ${found.own}.`;
    case 'token-alike':
      return `The token is right except for ${alikes[found.butFor]}.`;
    case 'custom-match':
      return customMatch(found);
    case 'time-unit': {
      const { unit, read, scheme } = found;
      const other = scheme === undefined ? '' : `: ${scheme} signs another unit`;
      return `The signature matches; its time is in ${unitName(unit)} and was read as ${unitName(read)}${other}.`;
    }
    case 'time-ahead':
      return 'The signature matches; only its time is ahead: compare the clocks of the sender and of this machine.';
    case 'time-past':
      return 'The signature matches; only its time is too old: a delivery sent again as it was, a slow queue, or clocks that differ.';
    case 'similar-header':
      return `It carries the header of the scheme '${found.schemes.join("' and '")}', but does not match with this secret; the scheme here is '${found.here}'.`;
    case 'no-credential':
      return `No header holds anything that matches; the scheme '${found.scheme}' reads ${found.headers.join(', ')}.`;
    case 'nothing-matches':
      return 'No known scheme, encoding or form of the body matches: the sender has another secret, or the body was changed on its way.';
  }
}

function customMatch(match: CustomMatch): string {
  const { header, algorithm, encoding, content, timestamp, idHeader, secret, body } = match;
  const places: string[] = [];
  if (timestamp !== undefined) {
    const inside = timestamp.prefix === undefined ? '' : `${timestamp.prefix}… in `;
    const unit = timestamp.signedAs === undefined ? '' : ` written as ${unitName(timestamp.signedAs)}`;
    places.push(`{timestamp} from ${inside}${timestamp.header}${unit}`);
  }
  if (idHeader !== undefined) places.push(`{id} from ${idHeader}`);
  const where = places.length === 0 ? '' : ` (${places.join(', ')})`;
  const found = `The header ${header} holds a matching ${algorithm} in ${encoding}, made over '${content.replaceAll('\n', '\\n')}'${where} with the secret ${secretText(secret).what}.`;
  return body === undefined ? found : `${found} ${changedBody(body)}`;
}

/**
 * What a receiver is given to take such deliveries; the shell takes the secret from where the scheme here reads it. The
 * shells of Windows have no quotes in common, and none that could change a secret.
 */
function receiverFlags({ here, scheme, options = {}, secret }: Fix, platform: string): ReceiverText {
  const isWindows = platform === 'win32';
  const words: string[] = [];
  const given = Object.entries(options).filter(([, value]) => value !== undefined);
  const name = scheme ?? here;
  const definition = name === 'custom' ? given : [['scheme', name], ...given];
  const json = given.length === 0 ? undefined : inAscii(JSON.stringify(Object.fromEntries(definition)));
  if (json !== undefined) words.push(`--scheme ${isWindows ? 'scheme.json' : shellWord(json)}`);
  else if (scheme !== undefined) words.push(`--scheme ${scheme}`);
  const isToken = name === 'token';
  const changed = secret && secretText(secret);
  const isChanged = changed?.shell !== undefined;
  const isGiven = isChanged || isToken !== (here === 'token');
  const variableOf = (token: boolean): string => `LEADS_WEBHOOK_${token ? 'TOKEN' : 'SECRET'}`;
  const own = variableOf(here === 'token');
  if (isWindows) {
    const how = isChanged ? `, ${changed.given ?? changed.what}` : '';
    const place = `in place of --${here === 'token' ? 'token' : 'secret'}`;
    const environment = isGiven
      ? `set ${variableOf(isToken)} to the secret that was given${how}, ${place}`
      : undefined;
    return { flags: words.join(' '), schemeFile: json, environment };
  }
  if (!isGiven) return { flags: words.join(' ') };
  const shell = (changed?.shell ?? '"$SECRET"').replaceAll('SECRET', own);
  words.push(`--${isToken ? 'token' : 'secret'} ${shell}`);
  return { flags: words.join(' '), environment: `with ${own} set to the secret that was given` };
}

/** A header may hold any byte, and a terminal does not show each as it is. */
const inAscii = (json: string): string =>
  json.replace(/[^ -~]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** Flags about one capture. */
function captureFlags({ body, signedAt }: CaptureFix): string {
  const form = body === undefined ? [] : [`--body-form ${body}`];
  return [...form, ...(signedAt === undefined ? [] : [`--at ${new Date(signedAt).toISOString()}`])].join(' ');
}

interface ReceiverText {
  /** Flags of a receiver. */
  readonly flags?: string | undefined;
  /** The text of the `scheme.json` that they name. */
  readonly schemeFile?: string | undefined;
  /** Which variable holds which secret then. */
  readonly environment?: string | undefined;
}

export interface ExplanationText extends ReceiverText {
  readonly what: string;
  /** Flags of the check of one capture. */
  readonly captureFlags: string | undefined;
}

/** What was found, and what helps, in words. */
export const explanationText = ({ what, fix, captureFix }: Finding, platform = 'linux'): ExplanationText => ({
  what: problemSentence(what),
  ...(fix && receiverFlags(fix, platform)),
  captureFlags: captureFix && captureFlags(captureFix),
});

/** The same as sentences for the operator of a receiver; nothing is accepted because of them. */
export function explanationLines(finding: Finding | undefined, platform?: string): readonly string[] {
  if (finding === undefined) return [];
  const {
    what,
    flags,
    captureFlags: ofCapture,
    schemeFile,
    environment,
  } = explanationText(finding, platform);
  if (flags === undefined || ofCapture !== undefined) return [what];
  const helps = [flags, schemeFile && `scheme.json: ${schemeFile}`, platform === 'win32' && environment];
  return [what, `To take such deliveries: ${helps.filter(Boolean).join('; ')}`];
}
