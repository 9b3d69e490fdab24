import { type ExitCode, exitCodeOf } from './exit-codes.ts';
import type { Host } from './host.ts';
import { wrapWidth } from './output/terminal/terminal.ts';

/**
 * The whole program. Every error ends here, so this never throws. Version and help are answered before anything else is loaded,
 * since loading takes most of the time of a short run.
 */
export async function main(argv: readonly string[], host: Host): Promise<ExitCode> {
  try {
    const text = await immediateAnswer(argv, host);
    if (text !== undefined) return await print(text, host);
    const { parseArgv } = await import('./parse-argv.ts');
    const invocation = await parseArgv(argv);
    if (invocation.kind === 'print') return await print(invocation.text(wrapWidth(host.stdout)), host);
    const { withContext } = await import('./context.ts');
    return exitCodeOf({ outcome: await withContext(host, invocation, invocation.run) });
  } catch (thrown) {
    const { report } = await import('./report-error.ts');
    return report(thrown, argv, host);
  }
}

async function immediateAnswer(argv: readonly string[], host: Host): Promise<string | undefined> {
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
  const { outputError } = await import('./files/errors.ts');
  throw outputError(failed as NodeJS.ErrnoException);
}
