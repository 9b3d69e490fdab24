import type { Context } from '../../context.ts';
import { UsageError } from '../../errors.ts';
import { settleWrittenLeads } from '../../receiver/targets/settle-written.ts';
import type { Outcome } from '../flags/command-spec.ts';
import { resolveScheme } from '../flags/scheme/resolve-scheme.ts';
import { createTargets } from './create-targets.ts';
import { openListenInbox } from './listen-inbox.ts';
import type { ListenOptions } from './options.ts';
import { receiveUntilStopped } from './receive.ts';
import { dropOldDeliveries } from './retention.ts';

/** Opens what receiving needs, receives, and closes it again in reverse order. */
export async function run(flags: ListenOptions, context: Context): Promise<Outcome> {
  if (flags.forwardBestEffort && flags.forwardTo === undefined && flags.exec === undefined) {
    throw new UsageError('--forward-best-effort needs --forward-to or --exec');
  }
  if ((flags.forwardPath || flags.forwardInsecure) && flags.forwardTo === undefined) {
    throw new UsageError('--forward-path and --forward-insecure need --forward-to');
  }
  const settings = await context.settings();
  const verifier = await resolveScheme(flags, settings, context);
  const abort = new AbortController();
  const targets = await createTargets(flags, settings, verifier, context, abort.signal);
  try {
    const { inbox, close } = await openListenInbox(flags, settings, context, verifier, targets);
    let retention: Promise<void> | undefined;
    let isCountReached = false;
    try {
      if (flags.output !== undefined) await settleWrittenLeads(flags.output, inbox);
      if (flags.retain !== undefined) {
        retention = dropOldDeliveries(inbox, flags.retain, context, abort.signal);
      }
      const outcome = await receiveUntilStopped(flags, context, { verifier, inbox, targets, abort });
      isCountReached = flags.count !== undefined && outcome === 'done';
      return outcome;
    } finally {
      abort.abort();
      await retention;
      await close(isCountReached);
    }
  } finally {
    for (const target of targets) await target.close?.();
  }
}
