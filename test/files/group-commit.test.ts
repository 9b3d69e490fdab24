import { describe, expect, it } from 'vitest';
import { BatchQueue, GroupCommit } from '../../src/files/group-commit.ts';

/** A commit that each test ends by hand, as a slow disk would. */
function slowCommit() {
  const batches: (readonly number[])[] = [];
  const ends: (() => void)[] = [];
  const group = new GroupCommit<number, string>((items) => {
    batches.push(items);
    return new Promise((resolve) => ends.push(() => resolve(items.map(String))));
  });
  return { group, batches, endBatch: () => ends.shift()?.() };
}

const turn = (): Promise<void> => new Promise(setImmediate);

describe('a group commit', () => {
  it('commits what was added in one turn of the event loop together, and gives each its own result', async () => {
    const batches: (readonly number[])[] = [];
    const group = new GroupCommit<number, number>((items) => {
      batches.push(items);
      return items.map((item) => item * 10);
    });
    expect(await Promise.all([1, 2, 3].map((item) => group.add(item)))).toEqual([10, 20, 30]);
    expect(batches).toEqual([[1, 2, 3]]);
  });

  it('lets what arrives during a commit form the next one', async () => {
    const { group, batches, endBatch } = slowCommit();
    const first = group.add(1);
    await expect.poll(() => batches).toEqual([[1]]);
    const later = [group.add(2), group.add(3)];
    await turn();
    expect(batches).toEqual([[1]]);
    endBatch();
    expect(await first).toBe('1');
    await expect.poll(() => batches).toEqual([[1], [2, 3]]);
    endBatch();
    expect(await Promise.all(later)).toEqual(['2', '3']);
  });

  it('bounds a batch, and lets the event loop turn between two', async () => {
    const sizes: number[] = [];
    const group = new GroupCommit<number, number>((items) => {
      sizes.push(items.length);
      return items;
    });
    const all = Promise.all(Array.from({ length: 1200 }, (_, i) => group.add(i)));
    await turn();
    expect(sizes).toEqual([512]);
    await all;
    expect(sizes).toEqual([512, 512, 176]);
  });

  it.each([
    {
      commit: 'throws',
      fail: () => {
        throw new Error('disk full');
      },
    },
    { commit: 'rejects', fail: () => Promise.reject(new Error('disk full')) },
  ])('fails its whole batch and no other when the commit $commit', async ({ fail }) => {
    let isFull = true;
    const group = new GroupCommit<number, number>((items) => (isFull ? fail() : items));
    const results = await Promise.allSettled([group.add(1), group.add(2)]);
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    isFull = false;
    expect(await group.add(3)).toBe(3);
  });

  it('flushes what waits and what is under way', async () => {
    const batches: (readonly number[])[] = [];
    const ends: (() => void)[] = [];
    const queue = new BatchQueue<number>((items) => {
      batches.push(items);
      return new Promise((resolve) => ends.push(resolve));
    });
    queue.add(1);
    await expect.poll(() => batches).toEqual([[1]]);
    queue.add(2);
    let isFlushed = false;
    const flushed = queue.flush().then(() => (isFlushed = true));
    ends.shift()?.();
    await expect.poll(() => batches).toEqual([[1], [2]]);
    expect(isFlushed).toBe(false);
    ends.shift()?.();
    await flushed;
    expect(isFlushed).toBe(true);
  });
});
