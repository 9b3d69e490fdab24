import { describe, expect, it } from 'vitest';
import { describeProblem } from '../../src/messages/command-line.ts';
import type { UnprovenReason } from '../../src/service/problems.ts';

describe('a hint on how a service pages', () => {
  it.each<UnprovenReason>([
    { kind: 'nothing-new' },
    { kind: 'more-without-parameter' },
    { kind: 'more-without-position' },
    { kind: 'page-may-be-cut', count: 25 },
    { kind: 'total-out-of-reach', total: 7, met: 3 },
    { kind: 'unread-member', name: 'max_id' },
    { kind: 'unread-header', name: 'continuation' },
  ])(
    'names the command that finds out first, and others that can be followed as they stand: %j',
    (reason) => {
      const { hint } = describeProblem(reason);
      expect(hint).toMatch(/^'leads doctor --learn'.*'leads config set api\.params\.page \w+'/);
      expect(hint).not.toContain('…');
    },
  );
});
