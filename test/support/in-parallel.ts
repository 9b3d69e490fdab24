/** Does the work for each item, for a few of them at a time. */
export async function inParallel<T>(
  items: readonly T[],
  atOnce: number,
  work: (item: T, i: number) => Promise<void>,
): Promise<void> {
  const left = items.entries();
  const worker = async (): Promise<void> => {
    for (const [i, item] of left) await work(item, i);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}
