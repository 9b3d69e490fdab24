import type { Settings } from '../../config/settings.ts';
import type { Context } from '../../context.ts';
import { readAuthority } from '../../tls/authority.ts';
import { appendTo } from '../../receiver/targets/append.ts';
import { execCommand } from '../../receiver/targets/exec.ts';
import { forwardTo } from '../../receiver/targets/forward.ts';
import type { ListenOptions } from './options.ts';
import type { Target } from '../../receiver/targets/target.ts';

/** Everything that was asked for with each lead, in the order in which it is done. */
export async function targetsFor(
  options: ListenOptions,
  { timeoutMs }: Settings,
  context: Context,
  stop: AbortSignal,
): Promise<Target[]> {
  const targets: Target[] = [];
  if (options.forwardTo !== undefined) {
    const loopbackCa = await readAuthority(context.paths.dataDir);
    targets.push(
      forwardTo({
        url: options.forwardTo,
        loopbackCa,
        timeoutMs,
        keepBody: options.showAnswer || context.globals.verbose,
        stop,
      }),
    );
  }
  if (options.exec !== undefined) {
    const { env, messages, killGroup } = context;
    targets.push(execCommand({ command: options.exec, env, timeoutMs, messages, killGroup, stop }));
  }
  if (options.output !== undefined) targets.push(await appendTo(options.output, context));
  return targets;
}
