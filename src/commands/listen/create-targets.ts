import type { Settings } from '../../config/settings.ts';
import type { Context } from '../../context.ts';
import { openAppendTarget } from '../../receiver/targets/append.ts';
import { execTarget } from '../../receiver/targets/exec.ts';
import { forwardTarget } from '../../receiver/targets/forward.ts';
import type { Target } from '../../receiver/targets/target.ts';
import { readAuthority } from '../../tls/authority.ts';
import type { ListenOptions } from './options.ts';

/**
 * The targets that the flags name, in the order in which each lead is delivered to them. `signal` aborts what they have
 * in flight. Throws an `OutputError` when the file of `--output` cannot be opened.
 */
export async function createTargets(
  flags: ListenOptions,
  { timeoutMs }: Settings,
  context: Context,
  signal: AbortSignal,
): Promise<Target[]> {
  const { forwardBestEffort: bestEffort } = flags;
  const targets: Target[] = [];
  if (flags.forwardTo !== undefined) {
    const loopbackCa = await readAuthority(context.paths.dataDir);
    const keepBody = flags.showAnswer || context.globals.verbose;
    targets.push(
      forwardTarget({ url: flags.forwardTo, timeoutMs, bestEffort, keepBody, loopbackCa, signal }),
    );
  }
  if (flags.exec !== undefined) {
    const { env, messages, killGroup } = context;
    targets.push(
      execTarget({ command: flags.exec, env, timeoutMs, bestEffort, messages, killGroup, signal }),
    );
  }
  if (flags.output !== undefined) targets.push(await openAppendTarget(flags.output, context));
  return targets;
}
