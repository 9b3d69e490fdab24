import { type Delivery, headerValues, pathOf } from '../delivery.ts';
import { type Item, type Parameters, serializeInnerList } from './structured-fields.ts';

/** The parts of a request from which components are read. */
export type Message = Pick<Delivery, 'method' | 'url' | 'path' | 'rawHeaders'>;

/** One value of `Signature-Input`: what was signed, and under which parameters. */
export interface SignatureInput {
  readonly items: readonly Item[];
  readonly params: Parameters;
}

/** Names of the covered components; undefined when one is repeated or has parameters, none of which is supported. */
export function coveredComponents(input: SignatureInput): ReadonlySet<string> | undefined {
  const names = input.items.map(({ bare, params }) =>
    bare.kind === 'string' && params.size === 0 ? bare.value : undefined,
  );
  const unique = new Set(names.filter((name) => name !== undefined));
  return unique.size === names.length ? unique : undefined;
}

/**
 * The bytes that are signed (RFC 9421, section 2.5); undefined when a covered component is unknown or not in the message.
 * Header values are in it as the bytes that were sent.
 */
export function signatureBase(
  input: SignatureInput,
  valueOf: (name: string) => string | undefined,
): Buffer | undefined {
  const lines: string[] = [];
  for (const { bare } of input.items) {
    const value = bare.kind === 'string' ? valueOf(bare.value) : undefined;
    if (value === undefined) return undefined;
    lines.push(`${bare.text}: ${value}`);
  }
  lines.push(`"@signature-params": ${serializeInnerList(input.items, input.params)}`);
  return Buffer.from(lines.join('\n'), 'latin1');
}

/** A component's value in a request (sections 2.1 and 2.2), or undefined. */
export function componentOf(message: Message, name: string): string | undefined {
  if (!name.startsWith('@')) {
    const values = headerValues(message, name);
    return values.length === 0 || name !== name.toLowerCase()
      ? undefined
      : values.map((value) => value.trim()).join(', ');
  }
  const url = URL.canParse(message.url) ? new URL(message.url) : undefined;
  const [, ...query] = message.path.split('?');
  switch (name) {
    case '@method':
      return message.method;
    case '@target-uri':
      return message.url;
    case '@authority':
      return url?.host;
    case '@scheme':
      return url?.protocol.slice(0, -1);
    case '@request-target':
      return message.path;
    case '@path':
      return pathOf(message);
    case '@query':
      return `?${query.join('?')}`;
    default:
      return undefined;
  }
}
