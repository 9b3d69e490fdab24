import type { Context } from '../../context.ts';
import { write } from '../../output/write-stream.ts';
import type { Outcome } from '../flags/command-spec.ts';
import type { CompletionOptions } from './options.ts';
import { bashScript } from './scripts/bash-script.ts';
import { fishScript } from './scripts/fish-script.ts';
import { powershellScript } from './scripts/powershell-script.ts';
import { zshScript } from './scripts/zsh-script.ts';

const scripts = { bash: bashScript, zsh: zshScript, fish: fishScript, powershell: powershellScript };

export async function run({ shell }: CompletionOptions, { stdout }: Context): Promise<Outcome> {
  await write(stdout, scripts[shell]);
  return 'done';
}
