import { expect, it } from 'vitest';
import { DataError } from '../../src/errors.ts';
import { describe as described } from '../../src/messages/command-line.ts';
import type { ServiceProblem } from '../../src/service/problems.ts';

it('says in words that fit how many requests brought something', () => {
  const spent: ServiceProblem = { kind: 'too-many-requests', requests: 53, fruitful: 1 };
  expect(described(new DataError(spent)).message).toBe(
    '1 of 53 requests brought new leads: the walk comes to no end',
  );
});
