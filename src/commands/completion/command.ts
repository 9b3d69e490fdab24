import { oneOf } from '../../config/value-types.ts';
import type { Arguments } from '../flags/flag.ts';
import { command } from '../flags/command-spec.ts';

const args = {
  shell: { type: oneOf(['bash', 'zsh', 'fish', 'powershell']), help: 'bash, zsh, fish or powershell' },
} satisfies Arguments;

export default command({
  name: 'completion',
  summary: 'a script with which a shell completes what is typed',
  description:
    'Prints a script for a shell. With it, TAB completes commands, flags, choices, and what this machine knows: ' +
    'profiles, settings, schemes, and ids, categories and fields of leads in the inbox. It reads local files only, ' +
    'changes nothing, and says nothing where it fails.',
  arguments: args,
  listing: {
    title: 'Where the script goes',
    rows: [
      ['bash', 'in ~/.bashrc: source <(leads completion bash)'],
      ['zsh', 'in ~/.zshrc, behind compinit: source <(leads completion zsh)'],
      ['fish', 'leads completion fish > ~/.config/fish/completions/leads.fish'],
      ['powershell', 'in $PROFILE: leads completion powershell | Out-String | Invoke-Expression (untested)'],
    ],
  },
  examples: ['leads completion bash', 'leads completion zsh > _leads'],
  load: () => import('./run.ts'),
});
