import { parseAndRun } from './parse-argv.ts';
import type { Outcome } from './commands/command-spec.ts';
import { findPaths } from './config/paths.ts';
import type { Context, Globals, Host } from './context.ts';
import { createMessages } from './output/messages.ts';

/** Runs one command with a context of its own, and closes what that context opened. */
export async function runCommand(argv: readonly string[], host: Host): Promise<Outcome> {
  const opened: (() => Promise<void>)[] = [];
  try {
    return await parseAndRun(argv, host, (globals) => contextOf(host, globals, opened));
  } finally {
    for (const close of opened) await close();
  }
}

/** Configuration and HTTP client load when a command first asks for them. */
function contextOf(host: Host, globals: Globals, opened: (() => Promise<void>)[]): Context {
  const paths = findPaths(host.env, host.platform);
  const messages = createMessages(host.stderr, globals);
  const settings = once(async () => {
    const { loadSettings } = await import('./config/load.ts');
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
