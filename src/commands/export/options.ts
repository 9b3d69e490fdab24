import { duration, oneOf, text, type ValueType, wholeNumber } from '../../config/value-types.ts';
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

const delimiter: ValueType<string> = {
  parse: (typed) => {
    const character = /^(tab|\\t)$/i.test(typed) ? '\t' : typed;
    return /^[^"\r\n\w\s]$|^\t$/.test(character) ? character : undefined;
  },
  expected: "one character such as ';', or tab",
};

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
  skipInvalid: { help: 'leave out records that are no valid JSON; each is named, and the exit code is 6' },
  gzip: { eitherWay: true, help: 'compress; automatic for -o NAME.gz' },
  fields: {
    ...fieldsFlag.fields,
    help: 'only these, such as id,contact.email; in CSV and workbooks: more columns',
  },
  limit: {
    short: 'n',
    value: 'n',
    type: wholeNumber(1),
    help: 'stop after this many leads',
  },
  ...formatFlags(recordFormats),
  format: { value: 'form', type: oneOf(recordFormats), otherwise: 'ndjson, or as -o FILE ends' },
  escape: { negated: true, help: 'CSV for programs: no apostrophe before + - = @' },
  bom: { help: 'CSV for Excel: begin with a byte order mark' },
  delimiter: {
    value: 'character',
    type: delimiter,
    otherwise: ',',
    help: "CSV: between cells, such as ';' or tab",
  },
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

/** The options that were typed, and what follows from them. */
export interface ExportOptions extends Omit<TypedOptions, 'format' | 'gzip'> {
  readonly format: RecordFormat;
  readonly gzip: boolean;
}

/** `-o -` is stdout; the ending of another name says how to write, where no flag does. */
export function settleOptions(typed: TypedOptions, messages: Pick<Messages, 'note'>): ExportOptions {
  const output = typed.output === '-' ? undefined : typed.output;
  const [, ending, gz] = /(?:\.(\w+?))?(\.gz)?$/i.exec(output ?? '') ?? [];
  const format = typed.format ?? recordFormats.find((form) => form === ending?.toLowerCase());
  const implied = [];
  if (typed.format === undefined && format !== undefined && format !== 'ndjson')
    implied.push(`--format ${format}`);
  if (gz !== undefined && typed.gzip === undefined) implied.push('--gzip');
  if (implied.length > 0)
    messages.note('implied', `the name ${output ?? ''} implies ${implied.join(' and ')}`);
  return {
    ...typed,
    output,
    format: format ?? 'ndjson',
    gzip: typed.gzip ?? gz !== undefined,
  };
}

/** Throws a `UsageError` for flags that contradict each other; `terminal` is whether stdout is one. */
export function rejectContradictions(options: ExportOptions, terminal: boolean): void {
  const { bom, bookmark, escape, follow, format, gzip, limit, output, overlap } = options;
  const isSheet = format === 'xlsx';
  const added = Object.entries({ resume: options.resume, bookmark, follow, gzip }).find(([, value]) => value);
  const forCsv = bom ? '--bom' : escape ? '--delimiter' : '--no-escape';
  const [toStdout, follows] = [output === undefined, follow !== undefined];
  const end = options.until === undefined ? '--in' : '--until';
  rejectFirst(
    [options.resume && toStdout, '--resume needs -o FILE: only an export to a file can be continued'],
    [
      format !== 'csv' && (bom || !escape || options.delimiter !== undefined),
      `${forCsv} is for --format csv`,
    ],
    [
      isSheet && added !== undefined,
      `--${added?.[0] ?? ''} and --format xlsx do not go together: a workbook is written as a whole, and compressed`,
      'leave it out, or use --format csv',
    ],
    [isSheet && toStdout && terminal, '--format xlsx writes no text for a terminal', 'use -o FILE.xlsx'],
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
    [gzip && toStdout && terminal, '--gzip writes no text for a terminal', 'redirect it, or use -o FILE'],
  );
}
