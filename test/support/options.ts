import { command } from '../../src/commands/flags/command-spec.ts';
import type { Flags, OptionsOf } from '../../src/commands/flags/flag.ts';
import type { Context } from '../../src/context.ts';
import { parseCommand } from '../../src/parse-argv.ts';

/** The checked options that a command with these flags would get for these words. */
export async function optionsOf<F extends Flags>(flags: F, words: readonly string[]): Promise<OptionsOf<F>> {
  const received: OptionsOf<F>[] = [];
  const spec = command({
    name: 'probe',
    summary: '',
    examples: [],
    flags,
    load: () =>
      Promise.resolve({
        run: (options: unknown) => {
          received.push(options as OptionsOf<F>);
          return Promise.resolve('done' as const);
        },
      }),
  });
  const invocation = parseCommand(spec, words);
  if (invocation.kind === 'run') {
    const settings = () => Promise.resolve({ zone: 'UTC' });
    await invocation.run({ settings } as unknown as Context);
  }
  const [options] = received;
  if (options === undefined) throw new Error('the words asked for help or the version');
  return options;
}
