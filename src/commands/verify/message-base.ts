import type { Delivery } from '../../webhook/delivery.ts';
import { labelledSignatures } from '../../webhook/rfc9421/authenticate-message.ts';
import { componentOf, signatureBase } from '../../webhook/rfc9421/signature-base.ts';
import { serializeItem } from '../../webhook/rfc9421/structured-fields.ts';

/** The signature base of one signature of a request (RFC 9421, section 2.5). */
export interface MessageBase {
  readonly label: string;
  /** Undefined when a component that it covers is not in the request. */
  readonly base: Buffer | undefined;
  /** That component, as `signature-input` names it. */
  readonly missing: string | undefined;
}

/** The base of the first signature of a request; undefined for a request that carries none which can be read. */
export function messageBase(delivery: Delivery): MessageBase | undefined {
  const found = labelledSignatures(delivery);
  const first =
    'ok' in found ? undefined : found.find(({ input }) => input !== undefined && 'items' in input);
  if (first?.input === undefined || !('items' in first.input)) return undefined;
  const { label, input } = first;
  const missing = input.items.find((item) => componentOf(delivery, item) === undefined);
  return {
    label,
    base: signatureBase(input, (component) => componentOf(delivery, component)),
    missing: missing && serializeItem(missing),
  };
}

/**
 * The first difference between our base of a request and the one of somebody else, in a sentence; undefined where there
 * is none. Both hold what was signed, which is no secret.
 */
export function compareBases(ours: Buffer, theirs: Buffer): string | undefined {
  const [own, other] = [ours.toString('latin1'), theirs.toString('latin1')];
  if (own === other) return undefined;
  if (other.startsWith('\xef\xbb\xbf')) return 'theirs begins with a byte order mark, which ours has not';
  if (other.includes('\r\n') && other.replaceAll('\r\n', '\n').trimEnd() === own) {
    return 'the lines of theirs end in CR LF, those of a base in LF';
  }
  if (other.replace(/\n+$/, '') === own) {
    return 'theirs ends with a line break, and a base has none after its last line';
  }
  const [ownLines, otherLines] = [own.split('\n'), other.split('\n')];
  const at = ownLines.findIndex((line, i) => line !== otherLines[i]);
  if (at < 0) return `theirs goes on behind the last line of ours: ${shown(otherLines[ownLines.length])}`;
  const [mine = '', yours] = [ownLines[at], otherLines[at]];
  const name = nameOf(mine);
  if (yours === undefined) return `theirs ends before the component ${name}`;
  if (nameOf(yours) !== name) {
    return `component ${at + 1} is ${name} in ours and ${shown(nameOf(yours))} in theirs`;
  }
  return `the component ${name} is ${shown(mine.slice(name.length + 2))} in ours and ${shown(yours.slice(name.length + 2))} in theirs`;
}

/** `"@method"` of the line `"@method": POST`, its parameters included. */
const nameOf = (line: string): string => /^"[^"]*"(?:;[^:]*)?(?=:)/.exec(line)?.[0] ?? line;

const mostShown = 200;

const shown = (text = ''): string => `'${text.length > mostShown ? `${text.slice(0, mostShown)}…` : text}'`;
