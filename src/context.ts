import { setFlagsFromString } from 'node:v8';
import { findPaths, type Paths } from './config/directories.ts';
import type { Globals, Settings } from './config/load-settings.ts';
import type { Host } from './host.ts';
import type { HttpClient } from './http/client/http-client.ts';
import { createMessages, type Messages } from './output/messages.ts';
import type { StatusLine } from './output/terminal/status-line.ts';

export type { Outcome } from './exit-codes.ts';

/** Everything that a command may touch: the host, and what follows from the global flags. */
export interface Context extends Host {
  readonly globals: Globals;
  readonly paths: Paths;
  readonly messages: Messages;
  /** Undefined where stderr is no terminal, and under `--quiet`. */
  readonly status: StatusLine | undefined;
  /** Reads the settings, once a run. */
  settings(): Promise<Settings>;
  /**
   * Makes the client for requests to the service, with proxy, extra authorities and time-outs, once a run; the context closes
   * it. `asksOnce` says that the command mostly sends a single request, for which a smaller client loads faster.
   */
  http(asksOnce?: boolean): Promise<HttpClient>;
}

/**
 * Runs something with a context of its own, and closes what that context opened. Configuration and HTTP client load when
 * they are first asked for.
 */
export async function withContext<T>(
  host: Host,
  { globals, allowsNewProfile }: Pick<Context, 'globals'> & { readonly allowsNewProfile: boolean },
  run: (context: Context) => Promise<T>,
): Promise<T> {
  const { env } = host;
  const status = await openStatusLine(host, globals);
  const stderr = status?.sharedWith(host.stderr) ?? host.stderr;
  const paths = findPaths(env, host.platform);
  const messages = createMessages(stderr, globals, status);
  const settings = once(async () => {
    const { loadSettings } = await import('./config/load-settings.ts');
    const loaded = loadSettings({ globals, env, paths, allowsNewProfile });
    const ignored = loaded.unknownPaths.join(', ');
    if (ignored !== '')
      messages.note('unknown', `the configuration file holds what this release ignores: ${ignored}`);
    return loaded;
  });
  let client: HttpClient | undefined;
  const http = once(async (asksOnce = false) => {
    const { timeoutMs } = await settings();
    const options = { env, dataDir: paths.dataDir, timeoutMs, setV8Flag: setFlagsFromString };
    return (client = asksOnce
      ? (await import('./http/client/quick-client.ts')).createQuickClient(options)
      : (await import('./http/client/agent.ts')).createAgent(options));
  });
  // Getters stay getters: a command that never reads stdin must not open it.
  const context = Object.defineProperties(
    { globals, paths, messages, status, settings, http },
    {
      ...Object.getOwnPropertyDescriptors(host),
      stderr: { value: stderr },
      stdout: { get: once(() => sharedStdout(host, status)) },
    },
  ) as unknown as Context;
  try {
    return await run(context);
  } finally {
    status?.close();
    await client?.destroy();
  }
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

function once<A extends unknown[], T extends object>(make: (...values: A) => T): (...values: A) => T {
  let result: T | undefined;
  return (...values) => (result ??= make(...values));
}
