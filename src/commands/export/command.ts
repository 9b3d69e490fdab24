import { addFilterFlags } from '../filter-flags.ts';
import { lazily, type CommandSpec } from '../command-spec.ts';

export default {
  name: 'export',
  summary: 'write every lead that matches, each once',
  description:
    'Write every lead that matches, one compact JSON object a line, in the service’s own bytes.\n' +
    'Leads that come twice are written once. stdout holds data only; a summary goes to stderr.',
  formats: ['ndjson', 'csv', 'json'],
  flags: (command) => {
    command
      .option('-o, --output <file>', 'write to a file that appears when it is complete')
      .option('--resume', 'go on with an -o that was interrupted, kill -9 included')
      .option('--gzip', 'compress')
      .option('--fields <list>', 'only these, such as id,contact.email')
      .option('--max <n>', 'stop after this many leads');
    addFilterFlags(command);
    command
      .optionsGroup('Again and again:')
      .option('--bookmark <file>', 'only what is new since the last complete run with this file')
      .option('--overlap <duration>', 'how late a lead may come and still be found (default: 24h)')
      .option('--follow [duration]', 'keep polling for new leads (default: every 30s)')
      .optionsGroup('Requests:')
      .option('--page-size <n>', 'leads asked for at once')
      .option('--concurrency <n>', 'requests at once, where pages or offsets are numbered')
      .optionsGroup('Options:');
  },
  examples: [
    'leads export > leads.ndjson',
    'leads export --since 7d --format csv -o week.csv',
    'leads export -o all.ndjson.gz --gzip --resume',
  ],
  run: lazily(() => import('./run.ts')),
} satisfies CommandSpec;
