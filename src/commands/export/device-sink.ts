import { open } from 'node:fs/promises';
import { withOutputErrors } from '../../files/output-error.ts';
import type { ByteSink } from '../../output/records/record-types.ts';

/** A device or a pipe as a sink: what was written there cannot be taken back, renamed or resumed. */
export async function deviceSink(path: string): Promise<ByteSink> {
  const file = await withOutputErrors(path, () => open(path, 'w'));
  return {
    write: (bytes) => withOutputErrors(path, () => file.writeFile(bytes)),
    end: () => file.close(),
  };
}
