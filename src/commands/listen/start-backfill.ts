import type { Context } from '../../context.ts';
import type { Inbox } from '../../inbox/inbox.ts';
import { backfill } from '../../receiver/backfill/backfill.ts';
import type { Receiver } from '../../receiver/create-receiver.ts';
import type { Target } from '../../receiver/targets/target.ts';
import type { Service } from '../../service/client/service.ts';
import type { ListenOptions } from './options.ts';
import type { DeliveryOutput } from './print/delivery-output.ts';

interface BackfillParts {
  /** Undefined without `--backfill`. */
  readonly service: Service | undefined;
  readonly inbox: Inbox;
  readonly receiver: Receiver;
  readonly targets: readonly Target[];
  readonly output: DeliveryOutput;
  /** Aborted when the run stops. */
  readonly signal: AbortSignal;
}

/** `--backfill` and `--backfill-every`. Resolves when the run stops, or after the only round. */
export async function startBackfill(
  { backfill: windowMs, backfillEvery: everyMs }: ListenOptions,
  { clock }: Pick<Context, 'clock'>,
  { service, output, ...parts }: BackfillParts,
): Promise<void> {
  if (service === undefined || windowMs === undefined) return;
  const onRound = output.backfill.bind(output);
  await backfill({ ...parts, service, clock, windowMs, everyMs, onRound });
}

/** Resolves when the work has ended, and at the latest after `ms`. */
export async function endWithin(
  ms: number,
  work: Promise<void>,
  { clock }: Pick<Context, 'clock'>,
): Promise<void> {
  const over = new AbortController();
  const wait = clock.sleep(ms, over.signal).catch(() => undefined);
  await Promise.race([work.finally(() => over.abort()), wait]);
}
