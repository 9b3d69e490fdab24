import { shellWord } from '../../front.ts';
import type { TimestampFormat } from '../scheme-options.ts';
import { type BodyFormName, bodyFormTexts } from './body-form-names.ts';
import type { CaptureFix, CustomMatch, Finding, Fix, SecretChange } from './finding.ts';

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

export function secretText({ to, text = '' }: SecretChange): SecretText {
  const found = secretTexts[to];
  return typeof found === 'function' ? found(text) : found;
}

export const behindWord = (isWhole: boolean): string => (isWhole ? '' : " behind a word such as 'Bearer'");

export const changedBody = (body: BodyFormName): string =>
  `The signature was made over ${bodyFormTexts[body]}, not over the bytes that came: sign what is sent, or look for what changed it on its way.`;

export const unitName = (unit: TimestampFormat): string => (unit === 'unix' ? 'seconds' : unit);

/** The sentence for a signature that no scheme with a name makes. */
export function customMatchText(match: CustomMatch): string {
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
  what,
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
