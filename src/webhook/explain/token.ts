import type { Delivery } from '../delivery.ts';
import { equal } from '../equal.ts';
import type { Key, Scheme } from '../scheme.ts';

/** Why a token that is nearly right, or right in the wrong place, was refused. */
export function explainToken(delivery: Delivery, scheme: Scheme, keys: readonly Key[]): string | undefined {
  const tokens = keys.map((key) => key.secret.reveal());
  for (const [name, value] of delivery.rawHeaders) {
    const given = Buffer.from(value, 'latin1').toString('utf8');
    const isOurs = (change: (text: string) => string, changeOurs = change): boolean =>
      tokens.some((token) => equal(Buffer.from(changeOurs(token)), Buffer.from(change(given))));
    const shown = name.toLowerCase();
    const whole = isOurs(same);
    if (whole || isOurs(withoutScheme, same)) {
      const behind = whole ? '' : " behind a word such as 'Bearer'";
      if (scheme.name !== 'token') {
        return `The secret itself came in the header ${shown}${behind}: it was sent as a token, and nothing was signed with it.`;
      }
      if (whole && shown === 'x-webhook-token') return undefined;
      return `The right token came in the header ${shown}${behind}, not by itself in x-webhook-token.`;
    }
    if (shown !== 'x-webhook-token' || scheme.name !== 'token') continue;
    if (isOurs(unquoted)) return 'The token is right but for quotes around it.';
    if (isOurs(decoded)) return 'The token is right but for percent-encoding.';
    if (isOurs((text) => text.toLowerCase())) return 'The token is right but for capital and small letters.';
    if (isOurs((text) => text.replace(/\s+/g, ''))) return 'The token is right but for white space.';
  }
  return undefined;
}

const same = (text: string): string => text;

const withoutScheme = (text: string): string => text.replace(/^[A-Za-z]+ +/, '');

const unquoted = (text: string): string => text.replace(/^(["'])(.*)\1$/s, '$2');

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
