import type { Delivery } from '../delivery.ts';
import { equalInConstantTime } from '../crypto/constant-time-equal.ts';
import type { Key, Scheme } from '../scheme.ts';

/** Why a token was rejected that is nearly right, or right but in the wrong header. */
export function explainToken(delivery: Delivery, scheme: Scheme, keys: readonly Key[]): string | undefined {
  const [own] = scheme.credentialHeaders;
  const tokens = keys.map((key) => key.secret.reveal());
  for (const [name, value] of delivery.rawHeaders) {
    const received = Buffer.from(value, 'latin1').toString('utf8');
    const matches = (change: (text: string) => string, changeOwn = change): boolean =>
      tokens.some((token) =>
        equalInConstantTime(Buffer.from(changeOwn(token)), Buffer.from(change(received))),
      );
    const header = name.toLowerCase();
    const isWhole = matches(unchanged);
    if (isWhole || matches(withoutScheme, unchanged)) {
      const behind = isWhole ? '' : " behind a word such as 'Bearer'";
      if (scheme.name !== 'token') {
        return `The secret itself came in the header ${header}${behind}: it was sent as a token, and nothing was signed with it.`;
      }
      if (isWhole && header === own) return undefined;
      const flag = isWhole ? ` To take such deliveries: --token-header ${header}` : '';
      return `The right token came in the header ${header}${behind}, not by itself in ${own ?? ''}.${flag}`;
    }
    if (header !== own || scheme.name !== 'token') continue;
    if (matches(unquoted)) return 'The token is right but for quotes around it.';
    if (matches(percentDecoded)) return 'The token is right but for percent-encoding.';
    if (matches((text) => text.toLowerCase())) return 'The token is right but for capital and small letters.';
    if (matches((text) => text.replace(/\s+/g, ''))) return 'The token is right but for white space.';
  }
  return undefined;
}

const unchanged = (text: string): string => text;

const withoutScheme = (text: string): string => text.replace(/^[A-Za-z]+ +/, '');

const unquoted = (text: string): string => text.replace(/^(["'])(.*)\1$/s, '$2');

function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
