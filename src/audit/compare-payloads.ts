import { payloadDiff } from '../inbox/payload-diff.ts';
import { compact } from '../json/compact.ts';
import type { StatusField } from './status-field.ts';

/** What is not compared, since it is another thing on each side. */
export interface Uncompared {
  readonly statusField: StatusField;
  /** Members that hold the id: the leads were found by it, and a number has the same digits as a text. */
  readonly idNames: readonly string[];
}

/**
 * Dotted names of the fields whose values are not the same in a lead as it was pulled and as it was received, its delivery
 * status and its id aside. Looks at the fields only where the bytes differ.
 */
export function differingFields(
  pulled: Uint8Array,
  received: Uint8Array,
  { statusField, idNames }: Uncompared,
): readonly string[] {
  const [a, b] = statusField.withoutBoth(pulled, compact(received));
  return Buffer.compare(a, b) === 0 ? [] : payloadDiff(a, b).filter((name) => !idNames.includes(name));
}
