import { oneOf } from '../../config/value-types.ts';
import type { Arguments } from '../flags/flag.ts';
import { command, type CommandSpec, type ListedCommand } from '../flags/command-spec.ts';

const args = {
  shell: { type: oneOf(['bash', 'zsh', 'fish', 'powershell']), help: 'bash, zsh, fish or powershell' },
} satisfies Arguments;

/** The script is made from what the commands declare. */
export const completionCommand = (commands: readonly ListedCommand[]): CommandSpec =>
  command({
    name: 'completion',
    summary: 'a script with which a shell completes what is typed',
    description:
      'Prints a script for a shell. With it, TAB completes commands, flags, choices and files, and runs nothing.',
    arguments: args,
    listing: {
      title: 'Where the script goes',
      rows: [
        ['bash', 'in ~/.bashrc: source <(leads completion bash)'],
        ['zsh', 'in ~/.zshrc, after compinit: source <(leads completion zsh)'],
        ['fish', 'leads completion fish > ~/.config/fish/completions/leads.fish'],
        [
          'powershell',
          'in $PROFILE: leads completion powershell | Out-String | Invoke-Expression (untested)',
        ],
      ],
    },
    examples: ['leads completion bash', 'leads completion zsh > _leads'],
    load: async () => {
      const { run } = await import('./run.ts');
      return { run: ({ shell }, context) => run(shell, commands, context) };
    },
  });
