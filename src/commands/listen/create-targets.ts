import type { Settings } from '../../config/settings.ts';
import type { Context } from '../../context.ts';
import { problemSentence, sentenceOf } from '../../messages/find-message.ts';
import type { ReceiverNote } from '../../receiver/problems.ts';
import { openAppendTarget } from '../../receiver/targets/append.ts';
import { execTarget } from '../../receiver/targets/exec.ts';
import { forwardTarget } from '../../receiver/targets/forward.ts';
import type { Target } from '../../receiver/targets/target.ts';
import { isLoopback } from '../../config/base-url.ts';
import { UsageError } from '../../errors.ts';
import { proxyFor } from '../../http/client/proxy.ts';
import type { Verifier } from '../../webhook/scheme.ts';
import { readAuthority } from '../../tls/local-authority.ts';
import { withoutInboxPassword } from '../flags/resolve-inbox.ts';
import type { ListenOptions } from './options.ts';

/**
 * The targets that the flags name. `signal` aborts what they have in flight. Throws an `OutputError` when the file of `--output` cannot be opened, and a `UsageError` for a URL that may not be
 * forwarded to.
 */
export async function createTargets(
  flags: ListenOptions,
  { timeoutMs }: Settings,
  { scheme }: Verifier,
  context: Context,
  signal: AbortSignal,
  note: (found: ReceiverNote) => void,
): Promise<Target[]> {
  const { forwardBestEffort: bestEffort } = flags;
  const targets: Target[] = [];
  if (flags.forwardTo !== undefined) {
    const loopbackCa = await readAuthority(context.paths.dataDir);
    const keepBody = flags.showAnswer || context.globals.verbose;
    targets.push(
      forwardTarget({
        url: forwardUrl(flags.forwardTo, flags),
        keepPath: flags.forwardPath ? { urlSaidBy: '--forward-to' } : undefined,
        scheme: scheme.name,
        proxy: proxyFor(flags.forwardTo, context.env),
        timeoutMs,
        bestEffort,
        keepBody,
        loopbackCa,
        sentenceOf: problemSentence,
        signal,
      }),
    );
  }
  if (flags.exec !== undefined) {
    const { messages, killGroup } = context;
    const env = withoutInboxPassword(flags, context.env);
    targets.push(
      execTarget({
        command: flags.exec,
        env,
        timeoutMs,
        bestEffort,
        messages,
        killGroup,
        sentenceOf: problemSentence,
        signal,
      }),
    );
  }
  if (flags.output !== undefined) {
    const { pid, clock } = context;
    const options = { pid, clock, signal: context.signal, sentenceOf, note };
    targets.push(await openAppendTarget(flags.output, options));
  }
  return targets;
}

/** A forward carries leads and the sender's credential. */
function forwardUrl(url: URL, { forwardPath, forwardInsecure }: ListenOptions): URL {
  if (url.protocol === 'http:' && !isLoopback(url.hostname) && !forwardInsecure) {
    throw new UsageError(
      `--forward-to: ${url.origin} is plain HTTP: leads and credentials would travel unencrypted`,
      {
        hint: 'use https://, or --forward-insecure where the network is trusted',
      },
    );
  }
  if (forwardPath && url.search !== '') {
    throw new UsageError('--forward-path keeps the query of each delivery: leave it out of --forward-to');
  }
  return url;
}
