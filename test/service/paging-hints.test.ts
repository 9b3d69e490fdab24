import { expect, it } from 'vitest';
import { commandLine, hintFor } from '../../src/front.ts';
import {
  moreWithoutParameter,
  moreWithoutPosition,
  nothingNew,
  pageMayBeCut,
  totalOutOfReach,
  unreadHeader,
  unreadMember,
} from '../../src/service/unproven-reasons.ts';

it.each([
  nothingNew,
  moreWithoutParameter,
  moreWithoutPosition,
  pageMayBeCut(25),
  totalOutOfReach(7, 3),
  unreadMember('max_id'),
  unreadHeader('continuation'),
])(
  'a hint on how a service pages names the command that finds out, and others that can be followed: $kind',
  ({ hint }) => {
    const text = hintFor(hint, commandLine);
    expect(text).toMatch(/^'leads doctor --learn'.*'leads config set api\.params\.page \w+'/);
    expect(text).not.toContain('…');
  },
);
