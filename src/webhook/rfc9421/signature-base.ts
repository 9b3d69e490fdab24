import { serializeInnerList, serializeItem } from './serialize-fields.ts';
import type { Item, Parameters } from './structured-fields.ts';

/** One value of `Signature-Input`: what was signed, and under which parameters. */
export interface SignatureInput {
  readonly items: readonly Item[];
  readonly params: Parameters;
}

/**
 * The bytes that are signed (RFC 9421, section 2.5); undefined when a covered component is unknown or not in the message.
 * Header values are in it as the bytes that were sent.
 */
export function signatureBase(
  input: SignatureInput,
  valueOf: (component: Item) => string | undefined,
): Buffer | undefined {
  const lines: string[] = [];
  for (const item of input.items) {
    const value = valueOf(item);
    if (value === undefined) return undefined;
    lines.push(`${serializeItem(item)}: ${value}`);
  }
  lines.push(`"@signature-params": ${serializeInnerList(input.items, input.params)}`);
  return Buffer.from(lines.join('\n'), 'latin1');
}
