import { expect, it } from 'vitest';
import { commandLine, hintFor } from '../../src/front.ts';
import {
  hintWhenSignIsUnread,
  hintWhenPageMayBeCut,
  moreWithoutPosition,
  nothingNew,
  totalOutOfReach,
  unproven,
} from '../../src/service/pagers/pager.ts';

it.each([
  nothingNew,
  moreWithoutPosition,
  totalOutOfReach(7, 3),
  unproven('25 leads came', hintWhenPageMayBeCut),
  unproven("the answer's 'max_id' may lead to more leads", hintWhenSignIsUnread),
])(
  'a hint on how a service pages names the command that finds out, and others that can be followed: $reason.message',
  ({ reason: { hint } }) => {
    const text = hintFor(hint, commandLine);
    expect(text).toMatch(/^'leads doctor --learn'.*'leads config set api\.params\.page \w+'/);
    expect(text).not.toContain('…');
  },
);
