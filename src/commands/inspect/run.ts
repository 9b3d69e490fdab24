import { describeWarning } from '../../messages/command-line.ts';
import { once } from 'node:events';
import type { Context, Outcome } from '../../context.ts';
import { ConfigError, UsageError } from '../../errors.ts';
import { type InboxLocation, isInboxThere, locationText, openInbox } from '../../inbox/open-inbox.ts';
import { unrenewedLeaseMs } from '../../receiver/lease-renewal.ts';
import { Replayer } from '../../inspect/replay/replayer.ts';
import { resolveInbox } from '../flags/resolve-inbox.ts';
import { openOnceThere } from '../flags/wait-for-database.ts';
import { openQueries, servePage } from './serve-page.ts';
import { type InspectOptions } from './options.ts';
import { replaySigner, replayTargets } from './replay-targets.ts';

export async function run(options: InspectOptions, context: Context): Promise<Outcome> {
  const { clock, pid, messages, signal } = context;
  const settings = await context.settings();
  const location = await resolveInbox(options, settings, context);
  rejectMissing(location);
  const { replayTo, port, open } = options;
  const signer = replayTo.length === 0 ? undefined : await replaySigner(options, context);
  const targets = await replayTargets(replayTo, { signer, trustFlags: options, signal }, context);
  const queries = await openOnceThere(location, () => openQueries(location, clock), context);
  const replays = new Replayer({
    targets,
    // Opened for each replay: a receiver that runs all the time would count as one that wants its targets.
    async useInbox(target, use) {
      // Fails where another file is at this place by now: its numbers are those of other leads.
      await queries.newestSeq();
      const inbox = await openInbox({
        location,
        clock,
        pid,
        targets: [target.name],
        leaseMs: unrenewedLeaseMs(settings.timeoutMs),
        warn: (found) => messages.warn(describeWarning(found)),
      });
      try {
        return await use(inbox);
      } finally {
        await inbox.close();
      }
    },
    clock,
  });
  const place = { location: locationText(location), queries, replays, receiver: undefined };
  const page = await servePage({ ...place, port, portOption: 'port', open }, context);
  if (!signal.aborted) await once(signal, 'abort');
  await page.close();
  return 'done';
}

function rejectMissing(location: InboxLocation): void {
  if (location === ':memory:') {
    throw new UsageError('an inbox in memory is of one process: there is nothing to inspect', {
      hint: "'leads listen --inspect --inbox :memory:' shows it",
    });
  }
  if (isInboxThere(location)) return;
  throw new ConfigError(`there is no inbox at ${locationText(location)}: nothing was received yet`, {
    hint: "'leads listen' makes it",
  });
}
