import type { Context } from '../../context.ts';
import { isLoopback } from '../../config/base-url.ts';
import { InterruptedError } from '../../errors.ts';
import { ensureAuthority } from '../../tls/authority.ts';
import { paletteFor } from '../../output/terminal/colour.ts';
import { write } from '../../output/write-stream.ts';
import { startSandbox } from '../../sandbox/start.ts';
import type { Outcome } from '../flags/command-spec.ts';
import { assemble, showsKey } from './assemble.ts';
import { banner, readiness } from './banner.ts';
import type { Options } from './options.ts';
import { line, summary, summaryRecord } from './summary.ts';

export async function run(flags: Options, context: Context): Promise<Outcome> {
  const { clock, messages, signal, stdout, stderr } = context;
  const sandbox = await startSandbox(await assemble(flags, context), {
    clock,
    loopbackCa: await authorityFor(flags.webhook, context),
    observe: (happened) => messages.verbose(line(happened)),
  });
  if (flags.host !== undefined && !isLoopback(flags.host.includes(':') ? `[${flags.host}]` : flags.host)) {
    messages.warn(`bound to ${flags.host}: other machines can list these leads with the key`);
  }
  const shown = showsKey(flags, context.env);
  try {
    if (flags.format === 'json') await write(stdout, `${JSON.stringify(readiness(sandbox, flags, shown))}\n`);
    else if (!context.globals.quiet) {
      const lines = banner(sandbox, flags, shown, await paletteFor(stderr, context));
      await write(stderr, `${lines.join('\n')}\n`);
    }
    await ended(signal);
  } finally {
    const done = summaryRecord(sandbox.state);
    await sandbox.close();
    if (flags.format === 'json') await write(stdout, `${JSON.stringify(done)}\n`);
    else messages.say(summary(done));
  }
  // Ctrl-C is the ordinary end; a SIGTERM is reported as one.
  if (signal.reason instanceof InterruptedError && signal.reason.signal === 'SIGINT') return 'done';
  throw signal.reason;
}

/** Made here when `listen` has not made it yet, so that it does not matter which of the two starts first. */
async function authorityFor(
  targets: readonly string[],
  { paths, clock }: Context,
): Promise<string | undefined> {
  const own = targets
    .map((target) => new URL(target))
    .some((url) => url.protocol === 'https:' && isLoopback(url.hostname));
  return own ? (await ensureAuthority(paths.dataDir, clock)).caPem : undefined;
}

const ended = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
