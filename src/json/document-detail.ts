import { describeByte } from './bytes.ts';
import type { DocumentFault } from './scanner.ts';

/** Says what is wrong with a document, and quotes no more than a single character, since a body may hold a secret. */
export function documentDetail(
  fault: DocumentFault,
  subject = 'the body',
  placeOf = (offset: number): string => `at byte ${offset}`,
): string {
  switch (fault.kind) {
    case 'not-utf8':
      return `${subject} is not UTF-8`;
    case 'empty':
      return `${subject} is empty`;
    case 'not-json':
      return `${subject} is not JSON`;
    case 'ends-early':
      return 'the JSON ends too early';
    case 'unexpected-byte':
      return `${subject} is not JSON: unexpected ${describeByte(fault.byte)} ${placeOf(fault.offset)}`;
  }
}
