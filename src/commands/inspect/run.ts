import { once } from 'node:events';
import type { Context, Outcome } from '../../context.ts';
import { noteText, UsageError } from '../../errors.ts';
import { type InboxLocation, locationText, openInbox, openInboxReader } from '../../inbox/open-inbox.ts';
import { Replayer, replayTarget } from '../../inspect/replayer.ts';
import { claimMsFor } from '../../receiver/forward-worker.ts';
import type { Signer } from '../../sender/sign-request.ts';
import { resolveInbox } from '../flags/resolve-inbox.ts';
import { resolveSigner } from '../flags/resolve-scheme.ts';
import { resolveTarget } from '../flags/delivery-target.ts';
import { rejectMissing } from '../inbox/with-inbox.ts';
import { openOnceThere } from '../flags/wait-for-database.ts';
import type { InspectOptions } from './command.ts';
import { servePage } from './serve-page.ts';

export async function run(options: InspectOptions, context: Context): Promise<Outcome> {
  const { clock, messages, signal } = context;
  const settings = await context.settings();
  const { timeoutMs } = settings;
  const location = await resolveInbox(options, settings, context);
  rejectInMemory(location);
  rejectMissing(location);
  const signer = await replaySigner(options, context);
  const targets = await Promise.all(
    options.replayTo.map(async (url) => {
      const { proxy, trust } = await resolveTarget(url, {}, context);
      return replayTarget({ url, proxy, trust, timeoutMs, now: () => clock.now(), signal }, signer);
    }),
  );
  const reader = await openOnceThere(location, () => openInboxReader({ location, clock }), context);
  const replays = new Replayer({
    targets,
    async openInbox(target) {
      // Fails where another inbox has replaced the one of the page: there, the same numbers are those of other leads.
      await reader.changeMark();
      return openInbox({
        location,
        clock,
        targets: [target.name],
        claimMs: claimMsFor(timeoutMs),
        warn: (warning) => messages.warn(noteText(warning)),
      });
    },
    clock,
  });
  try {
    const { port, open } = options;
    const parts = { location: locationText(location), inbox: reader, replays };
    const page = await servePage({ ...parts, port, open }, context);
    if (!signal.aborted) await once(signal, 'abort');
    await page.close();
    return 'done';
  } finally {
    await replays.close();
    await reader.close();
  }
}

/** Signs replays as `send` signs; undefined where neither a flag, nor the environment, nor the profile says how. */
async function replaySigner(options: InspectOptions, context: Context): Promise<Signer | undefined> {
  const { webhookScheme, webhookToken } = await context.settings();
  const { replayTo, scheme, token, tokenFile, secret, secretFile, verify } = options;
  const isNamed =
    [token, tokenFile, secret, secretFile].some((list) => list.length > 0) ||
    [scheme, webhookScheme, webhookToken].some((value) => value !== undefined);
  return replayTo.length > 0 && isNamed && verify ? resolveSigner(options, context) : undefined;
}

function rejectInMemory(location: InboxLocation): void {
  if (location === ':memory:') {
    throw new UsageError('an inbox in memory is of one process: there is nothing to inspect', {
      hint: 'name a file: --inbox FILE',
    });
  }
}
