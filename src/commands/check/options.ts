import { text } from '../../config/value-types.ts';
import { type Flags, inGroup, type OptionsOf } from '../flags/flag.ts';
import { writtenFile } from '../flags/flag-values.ts';
import { trustFlags, schemeFlags } from '../flags/delivery-flags.ts';
import { formatFlags } from '../flags/shared-flags.ts';
import { header } from '../send/send-values.ts';

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
