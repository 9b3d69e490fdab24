/** A condition that some work going on elsewhere will make true. */
export async function until(condition: () => boolean, what = 'a condition', ms = 15_000): Promise<void> {
  const deadline = Date.now() + ms;
  while (!condition()) {
    if (Date.now() > deadline) throw new Error(`waited in vain for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
