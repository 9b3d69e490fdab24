import { duration, oneOf, text, wholeNumber } from '../../config/value-types.ts';
import { type RecordFormat, recordFormats } from '../../output/records/record-types.ts';
import type { Messages } from '../../output/messages.ts';
import {
  acceptIncompleteFlag,
  fieldsFlag,
  filterFlags,
  formatFlags,
  rejectFirst,
} from '../flags/shared-flags.ts';
import { type Flags, inGroup, type OptionsOf } from '../flags/flag.ts';
import { pollInterval } from '../flags/flag-values.ts';

export const flags = {
  output: {
    short: 'o',
    value: 'file',
    type: text,
    help: 'write to a file that appears when it is complete; with --bookmark, append to it',
  },
  replace: { help: 'with --bookmark: replace the file of -o by what is new' },
  resume: { help: 'continue an -o that was interrupted, kill -9 included' },
  ...acceptIncompleteFlag,
  gzip: { eitherWay: true, help: 'compress; automatic for -o NAME.gz' },
  ...fieldsFlag,
  limit: {
    short: 'n',
    value: 'n',
    type: wholeNumber(1),
    olderName: 'max',
    help: 'stop after this many leads',
  },
  ...formatFlags(recordFormats),
  format: { value: 'form', type: oneOf(recordFormats), otherwise: 'ndjson, or csv for -o NAME.csv' },
  escape: { negated: true, help: 'CSV for programs: no apostrophe before + - = @' },
  bom: { help: 'CSV for Excel: begin with a byte order mark' },
  ...filterFlags,
  ...inGroup('Again and again', {
    bookmark: {
      value: 'file',
      type: text,
      help: 'only what is new since the last complete run with this file',
    },
    overlap: {
      value: 'duration',
      type: duration,
      otherwise: '24h',
      help: 'how late a lead may come and still be found',
    },
    follow: { value: 'duration', type: pollInterval, bare: '30s', help: 'keep polling for new leads' },
  }),
  ...inGroup('Requests', {
    pageSize: { value: 'n', type: wholeNumber(1), help: 'leads in one request' },
    concurrency: {
      value: 'n',
      type: wholeNumber(1, 32),
      help: 'requests at once, where pages or offsets are numbered',
    },
  }),
} satisfies Flags;

export type TypedOptions = OptionsOf<typeof flags>;

/** What was typed, and what follows from it. */
export interface ExportOptions extends Omit<TypedOptions, 'format' | 'gzip'> {
  readonly format: RecordFormat;
  readonly gzip: boolean;
}

/** `-o -` is stdout; the ending of another name says how to write, where no flag does. */
export function settleOptions(typed: TypedOptions, messages: Pick<Messages, 'note'>): ExportOptions {
  const output = typed.output === '-' ? undefined : typed.output;
  const [, csv, gz] = /(\.csv)?(\.gz)?$/i.exec(output ?? '') ?? [];
  const implied = [];
  if (csv !== undefined && typed.format === undefined) implied.push('--format csv');
  if (gz !== undefined && typed.gzip === undefined) implied.push('--gzip');
  if (implied.length > 0)
    messages.note('implied', `the name ${output ?? ''} implies ${implied.join(' and ')}`);
  return {
    ...typed,
    output,
    format: typed.format ?? (csv === undefined ? 'ndjson' : 'csv'),
    gzip: typed.gzip ?? gz !== undefined,
  };
}

/** Throws a `UsageError` for flags that contradict each other; `terminal` is whether stdout is one. */
export function rejectContradictions(options: ExportOptions, terminal: boolean): void {
  const { bom, bookmark, escape, fields, follow, format, gzip, jq, limit, output, overlap } = options;
  const [toStdout, follows] = [output === undefined, follow !== undefined];
  const end = options.until === undefined ? '--in' : '--until';
  rejectFirst(
    [options.resume && toStdout, '--resume needs -o FILE: only an export to a file can be continued'],
    [format !== 'csv' && (bom || !escape), `${bom ? '--bom' : '--no-escape'} is for --format csv`],
    [
      options.replace && (toStdout || bookmark === undefined),
      '--replace needs -o FILE and --bookmark: another export to a file replaces it anyway',
    ],
    [overlap !== undefined && bookmark === undefined && !follows, '--overlap needs --bookmark or --follow'],
    [
      limit !== undefined && bookmark !== undefined,
      '--limit and --bookmark do not go together: the leads beyond --limit would never be exported',
    ],
    [follows && (options.until ?? options.in) !== undefined, `--follow and ${end} do not go together`],
    [
      follows && format === 'csv' && fields === undefined && toStdout,
      '--follow with --format csv needs --fields',
      'the columns of leads that are still to come are not known',
    ],
    [
      jq !== undefined && (!toStdout || gzip),
      `--jq writes text to stdout: it does not go with ${toStdout ? '--gzip' : '-o FILE'}`,
      'redirect it: > FILE',
    ],
    [gzip && toStdout && terminal, '--gzip writes no text for a terminal', 'redirect it, or use -o FILE'],
  );
}
