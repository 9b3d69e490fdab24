import type { Secret } from '../../secret.ts';
import { explainFailure } from '../../messages/sender.ts';
import type { Attempt } from '../../sender/sender.ts';

/** In characters: what is shown of an answer's first line. */
const longestLine = 1000;
/** A shorter secret may be an ordinary word: it is replaced where it stands alone. */
const shortSecret = 10;
/** Of a header that holds a signature, the parts from this length on are it. */
const shortestSignature = 20;

interface AnswerTextOptions {
  /** The whole body, not its first line alone. */
  readonly whole: boolean;
  readonly secrets: readonly Secret[];
  /** Lower-case names of the headers that hold a credential. */
  readonly credentialHeaders: readonly string[];
}

/**
 * Gives what the receiver answered, or what happened instead. A receiver may send back what it was sent: secrets and the
 * signature of this attempt are replaced.
 */
export function answerReader({ whole, secrets, credentialHeaders }: AnswerTextOptions) {
  const hidden = secrets.flatMap((secret) => patternsOf(secret.reveal()));
  return ({ result, request }: Pick<Attempt, 'result' | 'request'>): string => {
    if (!result.ok) return explainFailure({ error: result.code });
    if (result.body.length === 0) return '';
    const body = result.body.toString('utf8');
    let text = whole ? body : firstLine(body);
    for (const pattern of hidden) text = text.replace(pattern, '[redacted]');
    if (text.length < shortestSignature) return text;
    for (const [name, value] of request.headers) {
      if (value.length < shortestSignature || !credentialHeaders.includes(name.toLowerCase())) continue;
      // Most answers hold nothing of it, and the end of a signature is quickly looked for.
      if (!text.includes(value.slice(-8).replace(/[^\w+]+$/, ''))) continue;
      for (const part of value.match(/[\w+/]{20,}/g) ?? []) text = text.replaceAll(part, '[redacted]');
    }
    return text;
  };
}

function firstLine(body: string): string {
  const start = body.slice(0, longestLine).trimStart();
  const end = start.search(/[\r\n]/);
  if (end !== -1) return start.slice(0, end);
  return body.length > longestLine ? `${start}…` : start;
}

/** The secret as it is, and as a URL holds it. */
function patternsOf(secret: string): RegExp[] {
  const forms = [...new Set([secret, encodeURIComponent(secret)])].filter((form) => form !== '');
  return forms.map((form) => {
    const literal = form.replace(/[.*+?^${}()|[\]\\/-]/g, '\\$&');
    return new RegExp(secret.length < shortSecret ? `(?<![\\w-])${literal}(?![\\w-])` : literal, 'g');
  });
}
