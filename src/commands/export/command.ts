import {
  duration,
  oneOf,
  pollInterval,
  text,
  type ValueType,
  wholeNumber,
} from '../../config/value-types.ts';
import { UsageError } from '../../errors.ts';
import { type RecordFormat, recordFormats } from '../../output/records/record-types.ts';
import { command, leadRecord, serviceExits } from '../flags/command-spec.ts';
import { type Flags, inGroup, type OptionsOf, orList } from '../flags/flag.ts';
import { acceptIncompleteFlag, fieldsFlag, filterFlags, formatFlags } from '../flags/shared-flags.ts';

/** A letter, a digit, a quote or a space would be taken for a part of a cell. */
const delimiter: ValueType<string> = {
  parse: (typed) => {
    if (/^(tab|\\t|\t)$/i.test(typed)) return '\t';
    return /^[^"\w\s]$/.test(typed) ? typed : undefined;
  },
  expected: "one character such as ';', or tab",
};

const ofCsv = ['--format csv | --output FILE.csv'];

export const flags = {
  output: {
    short: 'o',
    value: 'file',
    type: text,
    help: 'write to a file that appears when it is complete; with --bookmark, append to it',
  },
  replace: {
    with: ['--bookmark', '--output'],
    without: ['--follow'],
    help: 'with --bookmark: replace the file of -o by what is new',
  },
  resume: { with: ['--output'], help: 'continue an -o that was interrupted, kill -9 included' },
  ...acceptIncompleteFlag,
  skipInvalid: { help: 'leave out records that are no valid JSON; each is named, and the exit code is 6' },
  gzip: { without: ['--format xlsx'], help: 'compress; automatic for -o NAME.gz' },
  fields: {
    ...fieldsFlag.fields,
    help: 'only these, such as id,contact.email; in CSV and workbooks: more columns',
  },
  limit: {
    short: 'n',
    value: 'n',
    type: wholeNumber(1),
    without: ['--bookmark'],
    help: 'stop after this many leads',
  },
  ...formatFlags(recordFormats),
  format: { value: 'form', type: oneOf(recordFormats), otherwise: 'ndjson, or as -o FILE ends' },
  escape: { negated: true, with: ofCsv, help: 'CSV for programs: no apostrophe before + - = @' },
  bom: { with: ofCsv, help: 'CSV for Excel: begin with a byte order mark' },
  delimiter: {
    value: 'character',
    type: delimiter,
    with: ofCsv,
    otherwise: ',',
    help: "CSV: between cells, such as ';' or tab",
  },
  ...filterFlags,
  ...inGroup('Again and again', {
    bookmark: {
      value: 'file',
      type: text,
      without: ['--format xlsx'],
      help: 'only what is new since the last complete run with this file',
    },
    overlap: {
      value: 'duration',
      type: duration,
      with: ['--bookmark | --follow'],
      otherwise: '24h',
      help: 'how late a lead may come and still be found',
    },
    follow: {
      value: 'duration',
      type: pollInterval,
      bare: '30s',
      without: ['--until', '--in', '--format xlsx'],
      help: 'keep polling for new leads',
    },
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

export default command({
  name: 'export',
  summary: 'write every lead that matches, each once; an interrupted run goes on',
  description:
    'Write every lead that matches, one compact JSON object a line, in its own bytes.\n' +
    'Leads that come twice are written once. stdout holds data only; a summary goes to stderr.',
  flags,
  settle: settleOptions,
  everyday: ['output', 'resume', 'bookmark', 'format', 'status', 'since', 'in', 'where'],
  exits: serviceExits,
  output: [leadRecord],
  examples: [
    'leads export > leads.ndjson',
    'leads export --in last-month --zone Europe/Madrid -o month.xlsx',
    'leads export -o all.ndjson.gz --resume',
    'leads export -o all.ndjson --bookmark all.bookmark',
  ],
  load: () => import('./run.ts'),
});

type TypedOptions = OptionsOf<typeof flags>;

export interface ExportOptions extends Omit<TypedOptions, 'format'> {
  readonly format: RecordFormat;
}

const formOfEnding = new Map<string, RecordFormat>([
  ...recordFormats.map((form) => [form, form] as const),
  ['jsonl', 'ndjson'],
  ['tsv', 'csv'],
]);

/** Endings that promise what is not written here. Any other ending, such as `.txt`, says nothing of the form. */
const foreignEnding = /^(xls[mb]?|ods|numbers|xml|ya?ml|parquet|avro|pdf|zip|bz2|xz|zst|7z|tgz)$/;

/**
 * `-o -` is stdout. A name such as `leads.csv.gz` decides the form and the compression, if no flag does. It runs before the flags are
 * checked for contradictions, so that what a name decides counts as if it was typed. Throws a `UsageError` for an ending that says
 * another form than `--format`, or one that is not written.
 */
function settleOptions(typed: TypedOptions): ExportOptions {
  const output = typed.output === '-' ? undefined : typed.output;
  const name = output?.toLowerCase() ?? '';
  const plainName = name.replace(/\.gz$/, '');
  const [, ending = ''] = /\.(\w+)$/.exec(plainName) ?? [];
  const endingForm = formOfEnding.get(ending);
  const { format = endingForm ?? 'ndjson', delimiter = ending === 'tsv' ? '\t' : undefined } = typed;
  if (foreignEnding.test(ending)) {
    throw new UsageError(`-o ${output ?? ''}: .${ending} is no form of an export`, {
      hint: `end it in ${orList([...formOfEnding.keys()].map((word) => `.${word}`))}`,
    });
  }
  if (endingForm !== undefined && endingForm !== format) {
    throw new UsageError(`--format ${format} and -o ${output ?? ''} do not go together`, {
      hint: `end the name in .${format}, or leave out --format ${format}`,
    });
  }
  return { ...typed, output, delimiter, format, gzip: typed.gzip || plainName !== name };
}
