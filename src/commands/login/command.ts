import { text } from '../../config/value-types.ts';
import type { Flags, OptionsOf } from '../flags/flag.ts';
import { command, serviceExits } from '../flags/command-spec.ts';

const flags = {
  apiKeyFile: { value: 'file', type: text, help: 'read the key from a file (- for stdin)' },
  check: { negated: true, help: 'store the key without trying it' },
} satisfies Flags;

export type LoginOptions = OptionsOf<typeof flags>;

export default command({
  name: 'login',
  summary: 'store an API key, checked with one real call',
  flags,
  allowsNewProfile: true,
  exits: serviceExits,
  examples: ['leads login --base-url https://api.example.com', 'leads login --api-key-file key.txt'],
  load: () => import('./run.ts'),
});

export const logout = command({
  name: 'logout',
  summary: 'remove the stored API key',
  examples: ['leads logout', 'leads logout --profile staging'],
  load: async () => ({ run: (await import('./run.ts')).removeKey }),
});
