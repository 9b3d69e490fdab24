import { text } from '../../config/value-types.ts';
import { command, members } from '../flags/command-spec.ts';
import { header, receiverUrl, schemeFlags, trustFlags } from '../flags/delivery-flags.ts';
import { type Flags, inGroup, type OptionsOf } from '../flags/flag.ts';
import { writtenFile } from '../flags/flag-values.ts';
import { formatFlags } from '../flags/shared-flags.ts';

export const flags = {
  ...schemeFlags('How deliveries are signed'),
  ...inGroup('Which probes', {
    list: { without: ['--junit', '--write-baseline'], help: 'show the probes, and send nothing' },
    only: {
      value: 'glob',
      type: text,
      repeatable: true,
      help: "these alone, such as credential or 'body.*'",
    },
    skip: { value: 'glob', type: text, repeatable: true, help: 'not these' },
    allowWrites: { help: 'all of them on another host too: test leads are stored there' },
    oracle: {
      value: 'command',
      type: text,
      help: 'gets LEAD_ID, prints how many such leads are stored: proves dedupe',
    },
    header: {
      value: 'header',
      type: header,
      repeatable: true,
      help: "one more with every delivery, such as 'X-GitHub-Event: lead'",
    },
  }),
  ...inGroup('What counts', {
    strict: { help: "exit 7 also when a probe of level 'should' fails" },
    baseline: {
      value: 'file',
      type: text,
      help: 'failures that this file lists are known, and no reason for exit 7',
    },
    writeBaseline: { value: 'file', type: writtenFile, help: 'write what fails now, and exit 0' },
  }),
  ...inGroup('Output', {
    ...formatFlags(['pretty', 'json']),
    junit: { value: 'file', type: writtenFile, help: 'write the results for CI servers as well' },
  }),
  ...trustFlags,
} satisfies Flags;

/** The URL is an argument of the command. */
export type CheckOptions = OptionsOf<typeof flags> & { readonly url: URL | undefined };

export default command({
  name: 'check',
  summary: 'does a receiver obey the specification?',
  description:
    'Sends a receiver genuine, forged and broken deliveries, and says which rules it breaks.\n' +
    'Test leads have ids such as leads-check-k3f9s2h7-1; on another host nothing that may be stored is sent without ' +
    '--allow-writes. Exit 7 when a must fails.',
  arguments: { url: { help: 'of the receiver', type: receiverUrl, optional: true } },
  flags,
  everyday: ['token', 'scheme', 'secret', 'only', 'list', 'junit', 'json'],
  exits: { 5: 'the receiver could not be reached', 7: 'a must fails, or with --strict a should' },
  output: [
    {
      what: 'one for each probe',
      type: 'probe',
      fields: members('name group rule level result expected seen detail hint curl'),
      sometimes: ['known'],
    },
    { what: 'the last line', type: 'summary', fields: members('target pass fail warn skip accepted') },
    { what: 'with --list: one for each probe', fields: members('name group rule level expected') },
  ],
  examples: [
    'leads check https://localhost:8443/ --token secret',
    'leads check http://localhost:3000/hook --scheme github --secret s3cret --strict --junit check.xml',
    "leads check --list --only 'body.*'",
  ],
  load: () => import('./run.ts'),
});
