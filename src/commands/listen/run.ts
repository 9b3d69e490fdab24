import type { Context } from '../../context.ts';
import { UsageError } from '../../errors.ts';
import { ReceiverMetrics } from '../../receiver/metrics/receiver-metrics.ts';
import { settleWrittenLeads } from '../../receiver/targets/settle-written.ts';
import type { Outcome } from '../flags/command-spec.ts';
import { resolveScheme } from '../flags/scheme/resolve-scheme.ts';
import { leadPlaceOf } from '../flags/lead-at.ts';
import { createTargets } from './create-targets.ts';
import { openListenInbox } from './listen-inbox.ts';
import { shareAddress } from './operations/admin-address.ts';
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
  if (flags.backfillEvery !== undefined && flags.backfill === undefined) {
    throw new UsageError('--backfill-every needs --backfill, which says how far back each round looks', {
      hint: 'such as --backfill 24h --backfill-every 15m',
    });
  }
  if (flags.port !== 0 && flags.admin?.port === flags.port && shareAddress(flags.admin.host, flags.host)) {
    throw new UsageError(`--admin and --port both name port ${flags.port}`, {
      hint: 'deliveries and metrics need a port each, such as --admin 9090',
    });
  }
  if (flags.replayTo.length > 0 && flags.inspect === undefined) {
    throw new UsageError('--replay-to needs --inspect, which serves the page that replays');
  }
  const settings = await context.settings();
  const verifier = await resolveScheme(flags, settings, context);
  const abort = new AbortController();
  const targets = await createTargets(flags, settings, verifier, context, abort.signal);
  const metrics = flags.admin === undefined ? undefined : new ReceiverMetrics(context.clock, targets);
  const onCommit = metrics?.committed.bind(metrics);
  try {
    const { inbox, location, isRemoved, close } = await openListenInbox(
      flags,
      settings,
      context,
      verifier,
      targets,
      onCommit,
    );
    let retention: Promise<void> | undefined;
    let isOver = false;
    try {
      if (flags.output !== undefined) await settleWrittenLeads(flags.output, inbox);
      if (flags.retain !== undefined) {
        retention = dropOldDeliveries(inbox, flags.retain, context, abort.signal);
      }
      const outcome = await receiveUntilStopped(flags, context, {
        verifier,
        place: leadPlaceOf(settings, flags.leadAt),
        inbox,
        location,
        isRemoved,
        targets,
        metrics,
        abort,
      });
      isOver = outcome === 'done';
      return outcome;
    } finally {
      abort.abort();
      await retention;
      await close(isOver);
    }
  } finally {
    for (const target of targets) await target.close?.();
  }
}
