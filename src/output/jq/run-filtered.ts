import type { Context } from '../../context.ts';
import { OutputError } from '../../errors.ts';
import { openFilteredOutput } from './filtered-output.ts';

/** Runs a command whose stdout jq reads. The expression is checked before anything else is done. */
export async function runFiltered<T>(
  expression: string,
  context: Context,
  run: (context: Context) => Promise<T>,
): Promise<T> {
  const output = await openFilteredOutput(expression, context);
  // Getters stay getters: a command that never reads stdin must not open it.
  const descriptors = Object.getOwnPropertyDescriptors(context);
  const filtered = Object.defineProperties({}, { ...descriptors, stdout: { value: output } }) as Context;
  try {
    const outcome = await run(filtered);
    await output.finish();
    return outcome;
  } catch (error) {
    // What was written whole before it is shown as well, unless stdout takes no more.
    if (!(error instanceof OutputError)) await output.drain();
    throw error;
  } finally {
    await output.close();
  }
}
