import { oneOf } from '../../config/value-types.ts';
import type { Arguments, ArgumentsOf } from '../flags/flag.ts';

export const args = {
  shell: { type: oneOf(['bash', 'zsh', 'fish', 'powershell']), help: 'bash, zsh, fish or powershell' },
} satisfies Arguments;

export type CompletionOptions = ArgumentsOf<typeof args>;
