import { expect, it } from 'vitest';
import { compareWalks } from '../../../src/doctor/dialect/examine-dialect.ts';
import type { PositionFinding } from '../../../src/doctor/dialect/find-position.ts';
import { problemSentence } from '../../../src/messages/find-message.ts';
import type { Walked } from '../../../src/doctor/dialect/limited-requests.ts';

const front = Array.from({ length: 10 }, (_, i) => `lead_${i}`);
const position: PositionFinding = {
  ...{ kind: 'found', dialect: {}, style: { kind: 'paged-by-number', param: 'p', from: 1 } },
  evidence: { kind: 'pages-followed', first: 5, second: 5 },
};

const walked = (keys: readonly string[], end: Partial<Walked>): Walked => ({
  pages: [keys.map((key) => ({ key, hasId: true, createdAt: undefined, record: null }))],
  ...{ next: undefined, completion: undefined, failure: undefined, ...end },
});
const ended = { completion: { kind: 'complete', evidence: 'explicit-end' } } as const;

it('keeps what was found where a walk as learnt brings the same leads, as far as it went', () => {
  expect(compareWalks(position, front, walked(front, ended))).toBe(position);
  expect(compareWalks(position, front, walked(front.slice(0, 4), {}))).toBe(position);
  expect(compareWalks(position, front, walked([...front, 'behind'], {}))).toBe(position);
});

it.each([
  ['ends before them', walked(front.slice(0, 9), ended), '1 of 10 leads did not come'],
  ['begins behind the first', walked(front.slice(1), {}), '1 of 9 leads did not come'],
  [
    'goes wrong',
    walked([], { failure: { kind: 'said', text: 'the answer is empty' } }),
    'the answer is empty',
  ],
])('drops it where that walk %s', (_what, walk, why) => {
  const compared = compareWalks(position, front, walk);
  expect(compared).toMatchObject({ kind: 'undecided', advice: 'repeat' });
  const said = compared.kind === 'undecided' ? problemSentence(compared.why) : '';
  expect(said).toBe(`page number in p: walked as learnt, ${why}`);
});
