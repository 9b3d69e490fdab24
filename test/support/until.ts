/** Waits for a condition that work elsewhere will make true. */
export async function until(
  condition: () => boolean | Promise<boolean>,
  what = 'a condition',
  ms = 15_000,
): Promise<void> {
  const deadline = Date.now() + ms;
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error(`waited ${ms} ms for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
