import { describe, expect, it } from 'vitest';
import { narrowNames, type Shown } from '../../../src/doctor/dialect/find-honoured-name.ts';

const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k', 'l_m', 'n[o]', 'p_gte'];

/** A service that understands one of the names, and fails at some. */
function service(understood: string | undefined, unclearAt: (name: string) => boolean = () => false) {
  let requests = 0;
  const ask = (sent: ReadonlyMap<string, number>): Promise<Shown<number>> => {
    requests += 1;
    if ([...sent.keys()].some((name) => unclearAt(name) && name !== understood))
      return Promise.resolve({ kind: 'unclear' });
    const value = understood === undefined ? undefined : sent.get(understood);
    return Promise.resolve(value === undefined ? { kind: 'nothing' } : { kind: 'value', value });
  };
  return { ask, requests: () => requests };
}

describe('narrowing names', () => {
  it.each([1, 2, 5, 20])('finds each of them with %i values', async (many) => {
    const values = Array.from({ length: many }, (_, i) => i);
    for (const name of names) {
      const { ask, requests } = service(name);
      const found = await narrowNames(names, values, ask, { areOddNamesUnclear: false });
      expect(found).toMatchObject({ kind: 'found', name });
      expect(requests()).toBeLessThanOrEqual(many === 20 ? 1 : 6);
    }
  });

  it('says that none is understood', async () => {
    for (const many of [1, 3, 20]) {
      const values = Array.from({ length: many }, (_, i) => i);
      const { ask } = service(undefined);
      expect(await narrowNames(names, values, ask, { areOddNamesUnclear: false })).toEqual({
        kind: 'nothing',
      });
    }
  });

  it('finds one although names with brackets spoil every answer, and sends these no more together', async () => {
    const known = { areOddNamesUnclear: false };
    const isOdd = (name: string): boolean => /\[|_gte/.test(name);
    const { ask } = service('p_gte', isOdd);
    expect(await narrowNames(names, [1, 2, 3], ask, known)).toMatchObject({ kind: 'found', name: 'p_gte' });
    expect(known.areOddNamesUnclear).toBe(true);
    const later = service('b', isOdd);
    expect(await narrowNames(names, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12], later.ask, known)).toMatchObject(
      { name: 'b' },
    );
    expect(later.requests()).toBe(1);
  });
});
