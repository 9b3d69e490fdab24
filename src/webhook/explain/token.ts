import type { Delivery } from '../delivery.ts';
import { equal } from '../equal.ts';
import type { Key } from '../scheme.ts';

/** Why a token that is nearly right, or right in the wrong place, was refused. */
export function explainToken(delivery: Delivery, keys: readonly Key[]): string | undefined {
  const tokens = keys.map((key) => key.secret.reveal());
  for (const [name, value] of delivery.rawHeaders) {
    const given = Buffer.from(value, 'latin1').toString('utf8');
    const isOurs = (change: (text: string) => string): boolean =>
      tokens.some((token) => equal(Buffer.from(change(token)), Buffer.from(change(given))));
    const shown = name.toLowerCase();
    if (isOurs(same)) {
      return shown === 'x-webhook-token'
        ? undefined
        : `The right token came in the header ${shown}, not in x-webhook-token.`;
    }
    if (isOurs(withoutScheme)) {
      return `The right token came in the header ${shown} behind a word such as 'Bearer', not by itself in x-webhook-token.`;
    }
    if (shown !== 'x-webhook-token') continue;
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
