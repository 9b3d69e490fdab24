import type { Outcome } from './commands/flags/command-spec.ts';
import type { Globals } from './commands/flags/flag.ts';
import { findPaths } from './config/directories.ts';
import type { Context, Host } from './context.ts';
import { createMessages } from './output/messages.ts';
import type { StatusLine } from './output/terminal/status-line.ts';
import { wrapWidth } from './output/terminal/terminal-width.ts';
import { write } from './output/stdout.ts';
import { type Invocation, parseArgv } from './parse-argv.ts';

/** Does what the words ask for, with a context of its own, and closes what that context opened. */
export async function runCommand(argv: readonly string[], host: Host): Promise<Outcome> {
  const invocation = await parseArgv(argv);
  if (invocation.kind === 'print') {
    const { stdout } = host;
    await write(stdout, invocation.text(wrapWidth(stdout)));
    return 'done';
  }
  const opened: (() => Promise<void>)[] = [];
  const status = await openStatusLine(host, invocation.globals);
  try {
    return await invocation.run(createContext(host, invocation, status, opened));
  } finally {
    status?.close();
    for (const close of opened) await close();
  }
}

/** Configuration and HTTP client load when a command first needs them. */
function createContext(
  host: Host,
  { globals, allowsNewProfile }: Pick<Invocation & { kind: 'run' }, 'globals' | 'allowsNewProfile'>,
  status: StatusLine | undefined,
  opened: (() => Promise<void>)[],
): Context {
  const paths = findPaths(host.env, host.platform);
  const stderr = status?.sharedWith(host.stderr) ?? host.stderr;
  const messages = createMessages(stderr, globals, status);
  const settings = once(async () => {
    const { loadSettings } = await import('./config/load-settings.ts');
    return loadSettings({ globals, env: host.env, paths, allowsNewProfile });
  });
  const http = once(async () => {
    const { createProcessAgent } = await import('./http/client/agent.ts');
    const { timeoutMs } = await settings();
    const agent = await createProcessAgent({ env: host.env, dataDir: paths.dataDir, timeoutMs });
    opened.push(() => agent.destroy());
    return agent;
  });
  // Getters stay getters: a command that never reads stdin must not open it.
  const descriptors = Object.getOwnPropertyDescriptors(host);
  const stdout = once(() => sharedStdout(host, status));
  return Object.defineProperties(
    { globals, paths, messages, status, settings, http },
    { ...descriptors, stderr: { value: stderr }, stdout: { get: stdout } },
  ) as unknown as Context;
}

async function openStatusLine(
  { stderr, clock, env }: Host,
  { quiet }: Globals,
): Promise<StatusLine | undefined> {
  if (stderr.isTTY !== true || env['TERM'] === 'dumb' || quiet) return undefined;
  const { StatusLine } = await import('./output/terminal/status-line.ts');
  return new StatusLine(stderr, clock);
}

/** Data that goes to the terminal of the status line erases that line. */
const sharedStdout = ({ stdout }: Host, status: StatusLine | undefined): Host['stdout'] =>
  status !== undefined && stdout.isTTY === true ? status.sharedWith(stdout) : stdout;

function once<T extends object>(make: () => T): () => T {
  let made: T | undefined;
  return () => (made ??= make());
}
