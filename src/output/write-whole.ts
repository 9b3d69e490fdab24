import { writeFile } from 'node:fs/promises';
import { withOutputErrors } from '../files/output-error.ts';
import { findOutputPlace } from '../files/output-place.ts';
import { replaceFile } from '../files/replace.ts';

/** A regular file is replaced in one step; a pipe or device is written to. Throws an `OutputError`. */
export async function writeWhole(path: string, text: string | AsyncIterable<string>): Promise<void> {
  const place = await findOutputPlace(path);
  if (place.kind === 'file') {
    await replaceFile(place.path, text, place.mode === undefined ? {} : { mode: place.mode });
  } else {
    await withOutputErrors(path, () => writeFile(path, text));
  }
}
