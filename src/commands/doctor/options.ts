import { text, wholeNumber } from '../../config/value-types.ts';
import { type Flags, inGroup, type OptionsOf } from '../flags/flag.ts';
import { formatFlags } from '../flags/shared-flags.ts';
import { inboxFlags } from '../flags/inbox-flags.ts';

export const flags = {
  ...inGroup('The service', {
    learn: { help: 'find out what its dialect is, and write that to the profile' },
    dryRun: { help: 'with --learn: print it, and write nothing' },
  }),
  ...inGroup('The receiver', {
    port: { value: 'n', type: wholeNumber(1, 65_535), default: '8443', help: 'that listen would use' },
    host: { value: 'address', type: text, default: '127.0.0.1', help: 'that listen would use' },
    ...inboxFlags,
  }),
  ...inGroup('Output', { ...formatFlags(['pretty', 'json']) }),
} satisfies Flags;

export type DoctorOptions = OptionsOf<typeof flags>;
