import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { IdSet } from '../../src/lead/id-set.ts';

describe('the set of ids', () => {
  it('agrees with a Set on any ids', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'binary', maxLength: 12 }), { maxLength: 400 }), (ids) => {
        const ours = new IdSet();
        const theirs = new Set<string>();
        for (const id of ids) {
          expect(ours.add(id)).toBe(theirs.has(id) ? 'repeat' : 'new');
          theirs.add(id);
          expect(ours.has(id)).toBe(true);
        }
        expect(ours.size).toBe(theirs.size);
      }),
    );
  });

  it('gives the first ids in the order in which they were added, in a form that another set takes', () => {
    const ids = Array.from(
      { length: 9000 },
      (_, i) => `lead_${i}${i % 100 === 0 ? '\ud800'.repeat(i / 2) : ''}`,
    );
    const [first, second] = [new IdSet(), new IdSet()];
    for (const id of ids) for (const again of [id, ids[0] ?? '']) first.add(again);
    for (const bytes of first.stored(6000)) second.preloadStored(bytes);
    expect(second.size).toBe(6000);
    expect(ids.filter((id) => second.has(id))).toEqual(ids.slice(0, 6000));
    expect([...first.stored(Infinity)]).toHaveLength(9000);
  });

  it('has all of 200,000 ids after it has grown', () => {
    const ids = new IdSet();
    const meetAll = (): Set<string> =>
      new Set(Array.from({ length: 200_000 }, (_, i) => ids.add(`lead_${i}`)));
    expect([...meetAll()]).toEqual(['new']);
    expect([...meetAll()]).toEqual(['repeat']);
    expect(ids.has('lead_200000')).toBe(false);
  });

  it('distinguishes ids with the same hash', () => {
    // Of so many ids in 32 bits of hash, some dozen pairs share one.
    const ids = new IdSet();
    let state = 1n;
    const news = Array.from({ length: 400_000 }, () => {
      state = (state * 6364136223846793005n + 1442695040888963407n) & 0xffffffffffffffffn;
      return ids.add(state.toString(16).padStart(16, '0'));
    });
    expect(news.every((meeting) => meeting === 'new')).toBe(true);
  });

  it('distinguishes ids that are equal in UTF-8', () => {
    const ids = new IdSet();
    expect(['\ud800', '\ud801', '\udfff', '\ufffd'].map((id) => ids.add(id))).toEqual(Array(4).fill('new'));
  });

  it('accepts ids of any length', () => {
    const ids = new IdSet();
    const long = (tail: string): string => 'x'.repeat(3_000_000) + tail;
    expect([long('a'), long('b'), long('a')].map((id) => ids.add(id))).toEqual(['new', 'new', 'repeat']);
    expect(ids.has(long('b'))).toBe(true);
    expect(ids.has(long('c'))).toBe(false);
  });

  it('treats the bytes and the string of an id as the same id', () => {
    const ids = new IdSet();
    const bytes = Buffer.from('"žluťoučký"');
    expect(ids.addBytes(bytes, 1, bytes.length - 1)).toBe('new');
    expect(ids.add('žluťoučký')).toBe('repeat');
  });

  it('adds ids by hashes that were computed before, also where the set has grown since', () => {
    const [known, unknown] = [new IdSet(), new IdSet()];
    const lengths = [1, 2, 3, 4, 5, 36, 5000];
    const leads = Array.from({ length: 3000 }, (_, i) => {
      const source = Buffer.from(`"${String(i).padStart(lengths[i % lengths.length] ?? 0, 'é')}"`);
      return { hasPlainId: i % 5 !== 0, source, idStart: 1, idEnd: source.length - 1 };
    });
    for (const ids of [known, unknown]) {
      const hashes = ids === known ? ids.hashes(leads) : new Int32Array();
      const add = (): string[] =>
        leads.flatMap((lead, i) =>
          lead.hasPlainId ? [ids.addBytes(lead.source, lead.idStart, lead.idEnd, hashes[i])] : [],
        );
      expect([add(), add()].map((all) => [...new Set(all)])).toEqual([['new'], ['repeat']]);
    }
    for (const { hasPlainId, source } of leads) {
      expect(known.has(source.toString().slice(1, -1))).toBe(hasPlainId);
    }
  });

  it('distinguishes ids of an earlier pass from repeats in this pass', () => {
    const ids = new IdSet();
    ids.preload('a');
    expect([ids.add('a'), ids.add('a'), ids.add('b')]).toEqual(['earlier', 'repeat', 'new']);
    ids.nextPass();
    ids.preload('b');
    expect([ids.add('b'), ids.add('b'), ids.add('a')]).toEqual(['earlier', 'repeat', 'earlier']);
  });

  it('distinguishes them also after more passes than an entry can count', () => {
    const ids = new IdSet();
    const long = Array.from({ length: 100 }, (_, i) => `${i}`.padStart(4000, 'x'));
    for (const id of [...long, 'old']) ids.add(id);
    ids.preload('known');
    for (let passes = 0; passes < 100_000; passes += 1) {
      const start = ids.pass;
      ids.add('new');
      ids.nextPass();
      const met = ['new', 'old', 'known'].map((id) => ids.isMetSince(id, start));
      if (met.join() !== 'true,false,false' && passes > 0) expect([passes, met]).toEqual([]);
    }
    expect(long.filter((id) => ids.isMetSince(id, ids.pass - 1))).toEqual([]);
    expect(['old', 'known'].map((id) => ids.isMetSince(id, 0))).toEqual([true, true]);
    expect([...long, 'old', 'known'].map((id) => ids.add(id))).toEqual(Array(102).fill('earlier'));
  });
});
