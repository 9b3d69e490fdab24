import type { Context, Outcome } from '../../context.ts';
import { isLoopback, isLoopbackAddress } from '../../config/base-url.ts';
import { InterruptedError } from '../../errors.ts';
import { sentenceOf } from '../../messages/find-message.ts';
import { ensureAuthority } from '../../tls/local-authority.ts';
import { paletteFor } from '../../output/terminal/colour.ts';
import { write, writeJson } from '../../output/stdout.ts';
import { startSandbox } from '../../sandbox/start-sandbox.ts';
import { type Account, resolveSandbox } from './sandbox-options.ts';
import { eventLine, failureNotes, readyBanner, readyRecord, summaryLine, summaryRecord } from './print.ts';
import type { Options } from './options.ts';

export async function run(flags: Options, context: Context): Promise<Outcome> {
  const { clock, messages, signal, stdout, stderr } = context;
  const failures = failureNotes((cause, text) => messages.note(cause, text));
  const { options, accounts } = await resolveSandbox(flags, context);
  const sandbox = await startSandbox(options, {
    clock,
    sentenceOf,
    loopbackCa: await loopbackAuthority(accounts, context),
    observe: (event) => {
      messages.verbose(eventLine(event));
      if ('outcome' in event) failures.add(event);
    },
  });
  if (options.host !== undefined && !isLoopbackAddress(options.host)) {
    messages.warn(`bound to ${options.host}: other machines can list these leads with the key`);
  }
  try {
    if (flags.format === 'json') {
      await writeJson(stdout, readyRecord(sandbox, accounts));
    } else if (!context.globals.quiet) {
      const lines = readyBanner(sandbox, accounts, await paletteFor(stderr, context));
      await write(stderr, `${lines.join('\n')}\n`);
    }
    failures.start();
    await aborted(signal);
  } finally {
    const summary = summaryRecord(sandbox);
    await sandbox.close();
    if (flags.format === 'json') await writeJson(stdout, summary);
    else messages.say(summaryLine(summary));
  }
  // Ctrl-C is the usual end; a SIGTERM is reported.
  if (signal.reason instanceof InterruptedError && signal.reason.signal === 'SIGINT') return 'done';
  throw signal.reason;
}

/** Made here when `listen` has not made it yet, so that either of the two may start first. */
async function loopbackAuthority(
  accounts: readonly Account[],
  { paths, clock }: Context,
): Promise<string | undefined> {
  const needed = accounts
    .flatMap(({ webhooks }) => webhooks.map(({ url }) => new URL(url)))
    .some((url) => url.protocol === 'https:' && isLoopback(url.hostname));
  return needed ? (await ensureAuthority(paths.dataDir, clock)).caPem : undefined;
}

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
