import { expect, it } from 'vitest';
import { setNewest } from '../src/set-newest.ts';

it('forgets the key that was set longest ago', () => {
  const map = new Map<string, number>();
  for (const key of ['a', 'b', 'a', 'c']) setNewest(map, key, map.size, 2);
  expect([...map.keys()]).toEqual(['a', 'c']);
  setNewest(map, 'c', 7, 2);
  expect([...map]).toEqual([
    ['a', 2],
    ['c', 7],
  ]);
});
