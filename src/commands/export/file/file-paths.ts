import { realpath, stat } from 'node:fs/promises';
import { OutputError } from '../../../errors.ts';
import type { ExportOptions } from '../options.ts';

export interface FilePaths {
  readonly file: string;
  readonly partial: string;
  readonly checkpoint: string;
  /** Permissions of the file that is replaced, if there is one. */
  readonly mode: number | undefined;
}

/** Undefined for a device or a pipe, which is written to as it is. Throws an `OutputError` for a directory. */
export async function filePaths(output: string): Promise<FilePaths | undefined> {
  const { path, mode, special } = await describeOutput(output);
  if (special) return undefined;
  return { file: path, partial: `${path}.partial`, checkpoint: `${path}.checkpoint`, mode };
}

async function describeOutput(
  output: string,
): Promise<{ path: string; mode: number | undefined; special: boolean }> {
  try {
    const found = await stat(output);
    if (found.isDirectory()) throw new OutputError(`cannot write ${output}: it is a directory`);
    // Through a symbolic link the file behind it is replaced, not the link.
    return { path: await realpath(output), mode: found.mode & 0o777, special: !found.isFile() };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return { path: output, mode: undefined, special: false };
  }
}

/** Whether the partial file already is what the output is to be; otherwise it holds whole records as NDJSON. */
export const partialIsOutput = ({ format, fields }: Pick<ExportOptions, 'format' | 'fields'>): boolean =>
  format === 'ndjson' && fields === undefined;
