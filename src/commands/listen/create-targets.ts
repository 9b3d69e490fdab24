import type { Settings } from '../../config/load-settings.ts';
import type { Context } from '../../context.ts';
import { proxyFor } from '../../http/client/proxy.ts';
import { leadFilter } from '../../lead/filter.ts';
import { problemSentence, sentenceOf } from '../../messages/find-message.ts';
import type { ReceiverNote } from '../../receiver/problems.ts';
import { openAppendTarget } from '../../receiver/targets/append.ts';
import { execTarget } from '../../receiver/targets/exec.ts';
import { forwardTarget } from '../../receiver/targets/forward.ts';
import type { Target } from '../../receiver/targets/target.ts';
import { readAuthority } from '../../tls/local-authority.ts';
import type { Verifier } from '../../webhook/scheme.ts';
import { withoutInboxPassword } from '../flags/resolve-inbox.ts';
import type { ListenOptions } from './options.ts';
import type { TargetDefinition } from './target-definition.ts';

interface OpenOptions {
  readonly signal: AbortSignal;
  readonly host: string | undefined;
  readonly note: (found: ReceiverNote) => void;
}

/**
 * Opens the targets one by one. `signal` aborts what they have in flight; `host`: of this machine, where others share the
 * inbox. Throws an `OutputError` when the file of one cannot be opened.
 */
export async function* openTargets(
  definitions: readonly TargetDefinition[],
  flags: ListenOptions,
  { timeoutMs }: Settings,
  { scheme }: Verifier,
  context: Context,
  { signal, host, note }: OpenOptions,
): AsyncGenerator<Target, void> {
  const { clock, globals, killGroup, messages, paths, pid } = context;
  const loopbackCa = await readAuthority(paths.dataDir);
  const env = withoutInboxPassword(flags, context.env);
  const open = ({ to, bestEffort, keepPath, where }: TargetDefinition): Target | Promise<Target> => {
    const shared = { host, timeoutMs, bestEffort, sentenceOf: problemSentence, signal };
    if ('exec' in to) return execTarget({ ...shared, command: to.exec, env, messages, killGroup });
    if ('output' in to) {
      return openAppendTarget(to.output, { host, pid, clock, signal: context.signal, sentenceOf, note });
    }
    return forwardTarget({
      ...shared,
      url: to.forward,
      keepPath: keepPath ? { urlSaidBy: where } : undefined,
      scheme: scheme.name,
      proxy: proxyFor(to.forward, context.env),
      keepBody: globals.verbose,
      loopbackCa,
      now: () => clock.now(),
    });
  };
  for (const definition of definitions) {
    const { when: where, giveUpMs } = definition;
    const takes: Target['takes'] =
      where.length === 0
        ? undefined
        : (lead) =>
            leadFilter({
              categories: [],
              since: undefined,
              until: undefined,
              where,
              now: clock.now(),
            }).matches(lead);
    yield { ...(await open(definition)), giveUpMs, takes };
  }
}
