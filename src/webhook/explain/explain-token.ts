import type { Delivery } from '../delivery.ts';
import { equalInConstantTime } from '../crypto/signature.ts';
import type { Key, Scheme } from '../scheme.ts';
import type { Finding, Search, SecretChange } from './finding.ts';

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
      if (scheme.name === 'token' && isWhole && header === own) return undefined;
      const [word = ''] = /^[A-Za-z]+ +/.exec(received) ?? [];
      return {
        what:
          scheme.name === 'token'
            ? { kind: 'token-elsewhere', header, isWhole, own: own ?? '' }
            : { kind: 'secret-sent', header, isWhole },
        fix: {
          here: scheme.name,
          scheme: unlessToken(scheme.name),
          options: { tokenHeader: header },
          secret: isWhole ? undefined : { to: 'behind-word', text: word },
        },
      };
    }
    if (header !== own || scheme.name !== 'token') continue;
    const alike = (butFor: 'quotes' | 'percent' | 'case' | 'blanks', to?: SecretChange['to']): Finding => ({
      what: { kind: 'token-alike', butFor },
      fix: to && { here: 'token', secret: { to } },
    });
    if (matches(unquoted)) return alike('quotes', quotesChanged(tokens, received));
    if (matches(percentDecoded)) return alike('percent');
    if (matches((text) => text.toLowerCase())) return alike('case');
    if (matches(withoutBlanks)) {
      // The blanks may be in what came: no token that is given can have them.
      const isGiven = tokens.some((token) => withoutBlanks(token) === received);
      return alike('blanks', isGiven ? 'without-blanks' : undefined);
    }
  }
  return undefined;
}

const unlessToken = (scheme: string): string | undefined => (scheme === 'token' ? undefined : 'token');

const unchanged = (text: string): string => text;

const withoutBlanks = (text: string): string => text.replace(/\s+/g, '');

/** The token with, or without, the quotes that are around the other one. */
function quotesChanged(tokens: readonly string[], received: string): SecretChange['to'] {
  if (tokens.some((token) => token !== received && unquoted(token) === received)) return 'without-quotes';
  return received.startsWith("'") ? 'in-single-quotes' : 'in-double-quotes';
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
