import type { LeadDelivery } from '../../../audit/repair/deliver-leads.ts';
import { repairSchedule } from '../../../audit/repair/repair-schedule.ts';
import type { Context } from '../../../context.ts';
import { createPoster } from '../../../http/client/post.ts';
import { createSender } from '../../../sender/sender.ts';
import type { Signer } from '../../../sender/sign-request.ts';
import { unverified } from '../../../webhook/schemes/unverified.ts';
import { resolveScheme } from '../../flags/scheme/resolve-scheme.ts';
import { type ResolvedTarget, resolveTarget } from '../../flags/target/resolve-target.ts';
import { outgoingDeliveries } from '../../send/source/outgoing-deliveries.ts';
import type { RepairFlagOptions } from './repair-flags.ts';

/** What was asked for beside the comparison. */
export interface RepairPlan {
  readonly takeIn: boolean;
  readonly target: ResolvedTarget | undefined;
  readonly most: number;
  /** Leads that the receiver acknowledged in an earlier round: another delivery would bring nothing new. */
  readonly sent: Set<string>;
  /** Opens connections as it needs them; `close` ends them. Undefined without a target. */
  openDelivery(): (LeadDelivery & { close(): void }) | undefined;
}

/**
 * Undefined where nothing is to be repaired. Throws before anything is compared what would fail at each delivery: a
 * `UsageError` for plain HTTP beyond this machine, a `ConfigError` where nothing says how deliveries are signed.
 */
export async function openRepair(
  options: RepairFlagOptions,
  context: Context,
): Promise<RepairPlan | undefined> {
  const { takeIn, sendTo, maxRepair: most } = options;
  if (!takeIn && sendTo === undefined) return undefined;
  if (sendTo === undefined) {
    return { takeIn, target: undefined, most, sent: new Set(), openDelivery: () => undefined };
  }
  const target = await resolveTarget(sendTo, options, context);
  const settings = await context.settings();
  const { scheme, keys } = await resolveScheme(options, settings, context, 'sends');
  const signer: Signer = {
    scheme: keys.length > 0 ? scheme : unverified,
    key: keys[0],
    headers: options.header,
  };
  const { clock, random } = context;
  return {
    takeIn,
    target,
    most,
    sent: new Set(),
    openDelivery() {
      const { trust, proxy, url } = target;
      const poster = createPoster({ connections: 4, trust, proxy, now: () => clock.steady() });
      return {
        clock,
        createSender: (hasAcknowledged) =>
          createSender({
            signer,
            schedule: repairSchedule(hasAcknowledged, () => clock.now()),
            timeoutMs: settings.timeoutMs,
            poster,
            clock,
          }),
        deliveriesOf: (leads) => outgoingDeliveries(leads, { target: url.href, repeat: 1, random }),
        close: () => poster.close(),
      };
    },
  };
}
