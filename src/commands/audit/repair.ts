import type { Audit, AuditCounts } from '../../audit/audit.ts';
import type { Finding } from '../../audit/classify-lead.ts';
import {
  type LeadDelivery,
  repair,
  repairedClasses,
  type RepairResult,
  repairSchedule,
  storeInInbox,
  unreceivedLeads,
} from '../../audit/repair.ts';
import type { Context } from '../../context.ts';
import { createPoster } from '../../http/client/poster.ts';
import type { ReceivedLeads } from '../../inbox/query-types.ts';
import type { Messages } from '../../output/messages.ts';
import { counted, grouped, showProgress } from '../../output/terminal/progress.ts';
import { createSender, outgoingDeliveries } from '../../sender/sender.ts';
import { resolveSigner } from '../flags/resolve-scheme.ts';
import {
  notReached,
  type ResolvedTarget,
  resolveTarget,
  whyNotAcknowledged,
} from '../flags/resolve-target.ts';
import type { OpenedReceived } from './received-file.ts';
import type { RepairFlagOptions } from './options.ts';

/** The ids of leads that are no longer missing at the end of a run. */
export interface SettledLeads {
  readonly repaired: ReadonlySet<string>;
  /** The leads that came by themselves after they were found missing. */
  readonly arrived: ReadonlySet<string>;
}

/** Undefined for a finding that is still one. */
export function settledState(
  { class: kind, id }: Finding,
  { repaired, arrived }: SettledLeads,
): 'repaired' | 'came meanwhile' | undefined {
  if (!repairedClasses.some((name) => name === kind)) return undefined;
  return repaired.has(id) ? 'repaired' : arrived.has(id) ? 'came meanwhile' : undefined;
}

export interface RepairedFindings extends SettledLeads {
  /** To be thrown once the findings are printed. */
  readonly failure: { readonly error: unknown } | undefined;
}

/** An audit that was made, and what it compared. */
export interface ComparedSides {
  readonly audit: Pick<Audit, 'isProven' | 'unreceived'> & { readonly counts: Pick<AuditCounts, 'byClass'> };
  readonly received: Pick<OpenedReceived, 'name' | 'hasTimes' | 'store'> & {
    readonly leads: Pick<ReceivedLeads, 'lookUp'>;
  };
  /** The address of the service. */
  readonly baseUrl: URL;
}

const nothing: RepairedFindings = { repaired: new Set(), arrived: new Set(), failure: undefined };

/**
 * Repairs what a whole audit has found, and says what it did, or why it did nothing: a list that may be incomplete proves
 * no loss, and more findings than `--max-repair` have another cause. Throws the reason of an interruption, after it has
 * said what was done until then.
 */
export async function repairFindings(
  { audit, received, baseUrl }: ComparedSides,
  plan: RepairPlan | undefined,
  { clock, signal, messages, status }: Pick<Context, 'clock' | 'signal' | 'messages' | 'status'>,
): Promise<RepairedFindings> {
  const { byClass } = audit.counts;
  const unreceived = repairedClasses.reduce((sum, kind) => sum + (byClass[kind] ?? 0), 0);
  if (plan === undefined || unreceived === 0) return nothing;
  if (!audit.isProven) {
    messages.warn('nothing was repaired: the service does not show that its list is complete');
    return nothing;
  }
  if (unreceived > plan.mostLeads) {
    const leads = counted(unreceived, 'lead is', 'leads are');
    messages.warn(
      `nothing was repaired: ${leads} missing or refused, and --max-repair allows ${grouped(plan.mostLeads)}; ` +
        'raise it once it is clear that they were really lost',
    );
    return nothing;
  }
  const delivery = plan.openDelivery();
  const progress = showProgress(status, clock);
  const skipped = { arrived: new Set<string>(), sentBefore: new Set<string>() };
  const { sent } = plan;
  let result: RepairResult;
  try {
    result = await repair({
      leads: unreceivedLeads(audit, received.leads, sent, skipped),
      received: received.hasTimes ? received.leads : undefined,
      store: received.store && storeInInbox({ inbox: received.store, baseUrl, clock }),
      delivery,
      signal,
      onProgress: (leads) => progress.update(leads, unreceived),
    });
  } finally {
    progress.clear();
    delivery?.close();
  }
  for (const id of result.acknowledged) sent.add(id);
  const sentBefore = skipped.sentBefore.size;
  const arrived = skipped.arrived.size;
  const facts = { count: unreceived - sentBefore, sentBefore, arrived, plan, received };
  noteRepair(result, { ...facts, isInterrupted: signal.aborted }, messages);
  signal.throwIfAborted();
  const { repaired, failure = unreached(result, plan) } = result;
  return { repaired, arrived: skipped.arrived, failure };
}

/** No attempt was answered, and none arrived. */
function unreached({ tally, repaired }: RepairResult, { target }: RepairPlan): RepairedFindings['failure'] {
  if (repaired.size > 0) return undefined;
  if (target === undefined || tally?.firstFailure === undefined || tally.answered > 0) return undefined;
  return { error: notReached(tally.firstFailure.result, target) };
}

/** How a run repairs, as its flags say. */
export interface RepairPlan {
  readonly takeIn: boolean;
  readonly target: ResolvedTarget | undefined;
  readonly mostLeads: number;
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
  const { takeIn, sendTo, maxRepair: mostLeads } = options;
  if (!takeIn && sendTo === undefined) return undefined;
  if (sendTo === undefined) {
    return { takeIn, target: undefined, mostLeads, sent: new Set(), openDelivery: () => undefined };
  }
  const target = await resolveTarget(sendTo, options, context);
  const settings = await context.settings();
  const signer = { ...(await resolveSigner(options, context)), headers: options.header };
  const { clock, random } = context;
  return {
    takeIn,
    target,
    mostLeads,
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
        deliveriesOf: (leads) => outgoingDeliveries(leads, url.href, 1, random),
        close: () => poster.close(),
      };
    },
  };
}

interface RepairFacts {
  /** Leads that were to be repaired. */
  readonly count: number;
  /** Leads beside them that were acknowledged in an earlier round. */
  readonly sentBefore: number;
  readonly arrived: number;
  readonly plan: Pick<RepairPlan, 'target' | 'takeIn'>;
  readonly received: Pick<OpenedReceived, 'name' | 'hasTimes'>;
  readonly isInterrupted: boolean;
}

/** Says what a repair did, and what it did not do. */
function noteRepair(
  { repaired, acknowledged: { size: acknowledged }, unseen, tally, isSilent, failure }: RepairResult,
  { count, sentBefore, arrived, plan: { target, takeIn }, received, isInterrupted }: RepairFacts,
  messages: Pick<Messages, 'say' | 'warn' | 'note'>,
): void {
  if (sentBefore > 0) {
    const they = `leads that were acknowledged in an earlier round and are still not in ${received.name}`;
    messages.note('sent before', `${they} are not sent again`);
    if (count === 0) return;
  }
  const stored = failure === undefined ? 'stored' : 'seen stored';
  const done =
    target === undefined
      ? `${grouped(repaired.size)} of ${grouped(count)} leads ${stored} in ${received.name}`
      : `${grouped(acknowledged)} of ${grouped(count)} leads acknowledged by ${target.url.origin}`;
  if (isInterrupted) {
    const inFlight = target === undefined ? '' : '; what was in flight may have arrived as well';
    messages.warn(`interrupted: ${done} before that${inFlight}`);
    return;
  }
  messages.say(done);
  if (arrived > 0) messages.say(`${counted(arrived, 'lead', 'leads')} came meanwhile, without a repair`);
  const first = tally?.firstFailure?.result;
  const wasReached = tally !== undefined && (tally.answered > 0 || repaired.size > 0);
  if (wasReached && first !== undefined && acknowledged + arrived < count) {
    const failed = counted(count - acknowledged - arrived, 'lead was', 'leads were');
    const untried = count - arrived - acknowledged - tally.failed;
    const end = isSilent
      ? '; nothing was acknowledged for five minutes, and the repair was ended'
      : untried > 0
        ? `; after ${grouped(tally.failed)} of them the others were not tried`
        : '';
    messages.warn(`${failed} not acknowledged: ${whyNotAcknowledged(first)}${end}`);
  }
  if (unseen > 0) {
    const leads = counted(unseen, 'acknowledged lead is', 'acknowledged leads are');
    messages.warn(
      `${leads} not in ${received.name}, so the next audit would send ${unseen === 1 ? 'it' : 'them'} again: ` +
        (takeIn ? 'they could not be stored there' : 'with --take-in what was acknowledged is stored there'),
    );
  }
  if (!received.hasTimes && acknowledged > 0) {
    messages.say(`${received.name} does not show them: compare with a new export before the next repair`);
  }
}
