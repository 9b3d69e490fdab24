import { text } from '../../config/value-types.ts';
import type { Flags, OptionsOf } from '../flags/flag.ts';

export const flags = {
  apiKeyFile: { value: 'file', type: text, help: 'read the key from a file (- for stdin)' },
  check: { negated: true, help: 'store the key without trying it' },
} satisfies Flags;

export type LoginOptions = OptionsOf<typeof flags>;
