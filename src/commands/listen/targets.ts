import type { Settings } from '../../config/settings.ts';
import type { Context } from '../../context.ts';
import { readAuthority } from '../../http/authority.ts';
import { appendTo } from './append.ts';
import { execCommand } from './exec.ts';
import { forwardTo } from './forward.ts';
import type { ListenOptions } from './options.ts';
import type { Target } from './target.ts';

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
    const { env, notes, killGroup } = context;
    targets.push(execCommand({ command: options.exec, env, timeoutMs, notes, killGroup, stop }));
  }
  if (options.output !== undefined) targets.push(await appendTo(options.output, context));
  return targets;
}
