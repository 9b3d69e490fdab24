import type { Context, Globals, Host } from './context.ts';
import { type ExitCode, InterruptedError, LeadsError } from './errors.ts';
import { createNotes } from './output/notes.ts';
import { scrub } from './output/scrub.ts';
import { findPaths } from './config/paths.ts';
import { rootHelp } from './program.ts';

/**
 * The whole program: the only place that reports an error and picks the exit code. Never throws.
 * Commander, the configuration and the HTTP client load when they are first needed, since every start pays for them.
 */
export async function main(argv: readonly string[], host: Host): Promise<ExitCode> {
  const open: (() => Promise<void>)[] = [];
  try {
    const text = immediate(argv);
    if (text !== undefined) {
      const { write } = await import('./output/sink.ts');
      await write(host.stdout, text);
      return 0;
    }
    const { parseAndRun } = await import('./bind.ts');
    const outcome = await parseAndRun(argv, host, (globals) => contextOf(host, globals, open));
    return outcome === 'problems' ? 7 : 0;
  } catch (error) {
    return report(error, argv, host);
  } finally {
    for (const close of open) await close();
  }
}

function immediate(argv: readonly string[]): string | undefined {
  const only = argv.length === 1 ? argv[0] : undefined;
  if (argv.length === 0 || only === '--help' || only === '-h' || only === 'help') return rootHelp();
  return only === '--version' || only === '-V' ? `${LEADS_VERSION}\n` : undefined;
}

function contextOf(host: Host, globals: Globals, open: (() => Promise<void>)[]): Context {
  const paths = findPaths(host.env, host.platform);
  const notes = createNotes(host.stderr, globals);
  const settings = once(async () => {
    const { loadSettings } = await import('./config/load.ts');
    return loadSettings({ globals, env: host.env, paths });
  });
  const http = once(async () => {
    const { createAgent } = await import('./http/agent.ts');
    const agent = await createAgent({ env: host.env, paths, settings: await settings() });
    open.push(() => agent.close());
    return agent;
  });
  // Getters stay getters: a command that never reads stdin must not open it.
  return Object.defineProperties(
    { globals, paths, notes, settings, http },
    Object.getOwnPropertyDescriptors(host),
  ) as unknown as Context;
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => (made ??= make());
}

function report(error: unknown, argv: readonly string[], host: Host): ExitCode {
  const failure = error === host.signal.reason ? (host.signal.reason as InterruptedError) : error;
  const foreseen = failure instanceof LeadsError ? failure : undefined;
  if (failure instanceof InterruptedError && failure.hint === undefined) return failure.exitCode;
  const verbose = argv.includes('-v') || argv.includes('--verbose');
  const message =
    foreseen?.message ?? `a bug in leads: ${error instanceof Error ? error.message : String(error)}`;
  const hint =
    foreseen === undefined ? 'run it again with --verbose and report what it prints' : foreseen.hint;
  if (wantsJson(argv)) {
    const { code = 'bug', status, requestId } = foreseen ?? {};
    host.stderr.write(`${JSON.stringify({ error: { code, message, hint, status, requestId } })}\n`);
  } else {
    host.stderr.write(`error: ${scrub(message)}\n`);
    if (hint !== undefined) host.stderr.write(`hint: ${scrub(hint)}\n`);
  }
  if (verbose && foreseen === undefined && error instanceof Error)
    host.stderr.write(`${error.stack ?? ''}\n`);
  return foreseen?.exitCode ?? 1;
}

/** Read from the words themselves: the error may be that they could not be parsed. */
function wantsJson(argv: readonly string[]): boolean {
  const format = argv.findLast((word, i) => argv[i - 1] === '--format' || word.startsWith('--format='));
  return argv.includes('--json') || /^(--format=)?(json|ndjson|events)$/.test(format ?? '');
}
