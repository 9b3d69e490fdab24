import type { Outcome } from './commands/flags/command-spec.ts';
import type { Globals } from './commands/flags/global-flags.ts';
import { findPaths } from './config/directories.ts';
import type { Context, Host } from './context.ts';
import { createMessages } from './output/messages.ts';
import { wrapWidth } from './output/terminal/terminal-width.ts';
import { write } from './output/write-stream.ts';
import { parseArgv } from './parse-argv.ts';

/** Does what the words ask for, with a context of its own, and closes what that context opened. */
export async function runCommand(argv: readonly string[], host: Host): Promise<Outcome> {
  const invocation = await parseArgv(argv);
  if (invocation.kind === 'print') {
    const { stdout } = host;
    await write(stdout, invocation.text(wrapWidth(stdout)));
    return 'done';
  }
  const opened: (() => Promise<void>)[] = [];
  try {
    return await invocation.run(createContext(host, invocation.globals, opened));
  } finally {
    for (const close of opened) await close();
  }
}

/** Configuration and HTTP client load when a command first needs them. */
function createContext(host: Host, globals: Globals, opened: (() => Promise<void>)[]): Context {
  const paths = findPaths(host.env, host.platform);
  const messages = createMessages(host.stderr, globals);
  const settings = once(async () => {
    const { loadSettings } = await import('./config/load-settings.ts');
    return loadSettings({ globals, env: host.env, paths });
  });
  const http = once(async () => {
    const { createAgent } = await import('./http/client/agent.ts');
    const agent = await createAgent({ env: host.env, paths, settings: await settings() });
    opened.push(() => agent.destroy());
    return agent;
  });
  // Getters stay getters: a command that never reads stdin must not open it.
  return Object.defineProperties(
    { globals, paths, messages, settings, http },
    Object.getOwnPropertyDescriptors(host),
  ) as unknown as Context;
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => (made ??= make());
}
