import type { Host } from './context.ts';
import type { ExitCode } from './errors.ts';
import { wrapWidth } from './output/terminal/terminal-width.ts';

/**
 * The whole program: the only place where an error ends and an exit code is picked. Never throws. Version, help
 * and completion are answered before anything else is loaded, since every start pays for what is loaded here.
 */
export async function main(argv: readonly string[], host: Host): Promise<ExitCode> {
  try {
    const text = await immediateAnswer(argv, host);
    if (text !== undefined) return await print(text, host);
    const { runCommand } = await import('./run-command.ts');
    return (await runCommand(argv, host)) === 'problems' ? 7 : 0;
  } catch (error) {
    const { report } = await import('./report-error.ts');
    return report(error, argv, host);
  }
}

async function immediateAnswer(argv: readonly string[], host: Host): Promise<string | undefined> {
  if (argv[0] === 'completion' && argv[1] === '--complete') {
    const { completionOf } = await import('./program.ts');
    return completionOf(argv.slice(2), host);
  }
  const only = argv.length === 1 ? argv[0] : undefined;
  if (argv.length === 0 || only === '--help' || only === '-h' || only === 'help') {
    const { programHelp } = await import('./program.ts');
    return programHelp(wrapWidth(host.stdout));
  }
  return only === '--version' || only === '-V' ? `${LEADS_VERSION}\n` : undefined;
}

async function print(text: string, host: Host): Promise<ExitCode> {
  const failed = await new Promise((done) => host.stdout.write(text, done));
  if (!failed) return 0;
  const { outputError } = await import('./files/output-error.ts');
  throw outputError(failed as NodeJS.ErrnoException);
}
