import type { Delivery } from '../delivery.ts';
import { equalInConstantTime } from '../crypto/signature.ts';
import type { Key, Scheme } from '../scheme.ts';
import { type Finding, joinFlags, type Search, secretFlag, shellWord } from './finding.ts';

/** Why a token was rejected that is nearly right, or right but in the wrong header. */
export function explainToken(
  delivery: Delivery,
  scheme: Scheme,
  keys: readonly Key[],
  search: Search,
): Finding | undefined {
  const [own] = scheme.credentialHeaders;
  const tokens = keys.map((key) => key.secret.reveal());
  for (const [name, value] of delivery.rawHeaders) {
    const received = Buffer.from(value, 'latin1').toString('utf8');
    const matches = (change: (text: string) => string, changeOwn = change): boolean => {
      search.tried += tokens.length;
      return tokens.some((token) =>
        equalInConstantTime(Buffer.from(changeOwn(token)), Buffer.from(change(received))),
      );
    };
    const header = name.toLowerCase();
    const isWhole = matches(unchanged);
    if (isWhole || matches(withoutScheme, unchanged)) {
      const behind = isWhole ? '' : " behind a word such as 'Bearer'";
      if (scheme.name !== 'token') {
        const what = `The secret itself came in the header ${header}${behind}: it was sent as a token, and nothing was signed with it.`;
        return { what, flags: tokenFlags(scheme, header, received, isWhole, '--scheme token') };
      }
      if (isWhole && header === own) return undefined;
      const what = `The right token came in the header ${header}${behind}, not by itself in ${own ?? ''}.`;
      return { what, flags: tokenFlags(scheme, header, received, isWhole) };
    }
    if (header !== own || scheme.name !== 'token') continue;
    if (matches(unquoted)) {
      const what = 'The token is right except for the quotes around it.';
      return { what, flags: secretFlag('token', 'token', quotesChanged(tokens, received)) };
    }
    if (matches(percentDecoded)) return { what: 'The token is right except for percent-encoding.' };
    if (matches((text) => text.toLowerCase()))
      return { what: 'The token is right except for capital and small letters.' };
    if (matches(withoutBlanks)) {
      // The blanks may be in what came: no token that is given can have them.
      const isGiven = tokens.some((token) => withoutBlanks(token) === received);
      const shell = isGiven ? String.raw`"$(printf %s "$SECRET" | tr -d ' \t\r\n')"` : undefined;
      return {
        what: 'The token is right except for white space.',
        flags: secretFlag('token', 'token', shell),
      };
    }
  }
  return undefined;
}

/** The flags that take a token in this header, behind the word that stands there. */
function tokenFlags(
  { name }: Scheme,
  header: string,
  received: string,
  isWhole: boolean,
  scheme?: string,
): string {
  const [word = ''] = /^[A-Za-z]+ +/.exec(received) ?? [];
  const token = secretFlag(name, 'token', isWhole ? undefined : `"${word}$SECRET"`);
  return joinFlags(scheme, `--token-header ${shellWord(header)}`, token);
}

const unchanged = (text: string): string => text;

const withoutBlanks = (text: string): string => text.replace(/\s+/g, '');

/** Shell text for the token with, or without, the quotes that are around the other one. */
function quotesChanged(tokens: readonly string[], received: string): string {
  if (tokens.some((token) => token !== received && unquoted(token) === received)) return '"${SECRET:1:-1}"';
  return received.startsWith("'") ? `"'$SECRET'"` : `'"'"$SECRET"'"'`;
}

const withoutScheme = (text: string): string => text.replace(/^[A-Za-z]+ +/, '');

const unquoted = (text: string): string => text.replace(/^(["'])(.*)\1$/s, '$2');

function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
