import { command, leadRecord, serviceExits } from '../flags/command-spec.ts';
import { flags, settleOptions } from './options.ts';

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
