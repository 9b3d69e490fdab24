import type { OutputPlace } from '../../../files/output-place.ts';
import type { ExportOptions } from '../options.ts';

export interface FilePaths {
  readonly file: string;
  readonly partial: string;
  readonly checkpoint: string;
  /** The records in the output's form, where that is another one than the partial file's. */
  readonly drawn: string;
  /** Permissions of the file that is replaced, if there is one. */
  readonly mode: number | undefined;
}

export const filePaths = ({ path, mode }: Extract<OutputPlace, { kind: 'file' }>): FilePaths => ({
  file: path,
  partial: `${path}.partial`,
  checkpoint: `${path}.checkpoint`,
  drawn: `${path}.drawn`,
  mode,
});

/** Whether the partial file already is what the output is to be; otherwise it holds whole records as NDJSON. */
export const partialIsOutput = ({ format, fields }: Pick<ExportOptions, 'format' | 'fields'>): boolean =>
  format === 'ndjson' && fields === undefined;
