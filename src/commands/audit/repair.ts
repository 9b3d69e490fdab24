import type { Audit, AuditCounts } from '../../audit/audit.ts';
import type { Finding } from '../../audit/classify-lead.ts';
import {
  type LeadDelivery,
  repair,
  repairedClasses,
  type RepairResult,
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
import type { RepairFlagOptions } from './command.ts';

export interface SettledLeads {
  readonly repaired: ReadonlySet<string>;
  /** The leads that came by themselves after they were found missing. */
  readonly arrived: ReadonlySet<string>;
}

export function settledState(
  { class: kind, id }: Finding,
  { repaired, arrived }: SettledLeads,
): 'repaired' | 'came meanwhile' | undefined {
  if (!repairedClasses.some((name) => name === kind)) return undefined;
  return repaired.has(id) ? 'repaired' : arrived.has(id) ? 'came meanwhile' : undefined;
}

export interface RepairedFindings extends SettledLeads {
  readonly failure: { readonly error: unknown } | undefined;
}

export interface ComparedSides {
  readonly audit: Pick<Audit, 'isProven' | 'unreceived'> & { readonly counts: Pick<AuditCounts, 'byClass'> };
  readonly received: Pick<OpenedReceived, 'name' | 'hasTimes' | 'store'> & {
    readonly leads: Pick<ReceivedLeads, 'lookUp'>;
  };
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
  const whyNot = whyNotRepaired(audit.isProven, unreceived, plan.mostLeads);
  if (whyNot !== undefined) {
    messages.warn(`nothing was repaired: ${whyNot}`);
    return nothing;
  }
  const delivery = plan.openDelivery?.();
  const progress = showProgress(status, clock);
  const sorted = { tried: new Array<string>(), arrived: new Set<string>(), sentBefore: new Set<string>() };
  const { tried, arrived, sentBefore } = sorted;
  let result: RepairResult;
  try {
    result = await repair({
      leads: unreceivedLeads(audit, received.leads, plan.sent, sorted),
      tried,
      received: received.hasTimes ? received.leads : undefined,
      store: received.store && storeInInbox(received.store, baseUrl, clock),
      delivery,
      signal,
      onProgress: (leads) => progress.update(leads, unreceived),
    });
  } finally {
    progress.clear();
    delivery?.close();
  }
  for (const id of result.acknowledged) plan.sent.add(id);
  if (sentBefore.size > 0) {
    const leads = `leads that were acknowledged in an earlier round and are still not in ${received.name}`;
    messages.note('sent before', `${leads} are not sent again`);
  }
  const { repaired, tally, failure } = result;
  const { target } = plan;
  const count = unreceived - sentBefore.size;
  const done = doneText(result, count, target, received.name);
  const inFlight = target === undefined ? '' : '; what was in flight may have arrived as well';
  if (signal.aborted) messages.warn(`interrupted: ${done} before that${inFlight}`);
  signal.throwIfAborted();
  if (count > 0) {
    messages.say(done);
    if (arrived.size > 0)
      messages.say(`${counted(arrived.size, 'lead', 'leads')} came meanwhile, without a repair`);
    noteUnacknowledged(result, count - arrived.size, messages);
    noteUnseen(result, received, messages);
  }
  const unreached = target !== undefined && repaired.size === 0 && tally.answered === 0 && tally.firstFailure;
  if (failure !== undefined || !unreached) return { repaired, arrived, failure };
  return { repaired, arrived, failure: { error: notReached(unreached.result, target) } };
}

function whyNotRepaired(isProven: boolean, unreceived: number, mostLeads: number): string | undefined {
  if (!isProven) return 'the service does not show that its list is complete';
  if (unreceived <= mostLeads) return undefined;
  const leads = counted(unreceived, 'lead is', 'leads are');
  return (
    `${leads} missing or refused, and --max-repair allows ${grouped(mostLeads)}; ` +
    'raise it once it is clear that they were really lost'
  );
}

function doneText(
  { repaired, acknowledged, failure }: RepairResult,
  count: number,
  target: ResolvedTarget | undefined,
  name: string,
): string {
  if (target !== undefined)
    return `${grouped(acknowledged.size)} of ${grouped(count)} leads acknowledged by ${target.url.origin}`;
  const stored = failure === undefined ? 'stored' : 'seen stored';
  return `${grouped(repaired.size)} of ${grouped(count)} leads ${stored} in ${name}`;
}

function noteUnacknowledged(
  { repaired, acknowledged, tally }: RepairResult,
  count: number,
  messages: Pick<Messages, 'warn'>,
): void {
  const { firstFailure, answered, failed } = tally;
  const lacking = count - acknowledged.size;
  if (firstFailure === undefined || lacking === 0 || (answered === 0 && repaired.size === 0)) return;
  const leads = counted(lacking, 'lead was', 'leads were');
  const end = lacking > failed ? `; after ${grouped(failed)} of them the others were not tried` : '';
  messages.warn(`${leads} not acknowledged: ${whyNotAcknowledged(firstFailure.result)}${end}`);
}

function noteUnseen(
  { repaired, acknowledged, failure }: RepairResult,
  { name, hasTimes, store }: ComparedSides['received'],
  messages: Pick<Messages, 'say' | 'warn'>,
): void {
  const unseen = [...acknowledged].filter((id) => !repaired.has(id)).length;
  if (unseen > 0 && failure === undefined) {
    const leads = counted(unseen, 'acknowledged lead is', 'acknowledged leads are');
    const help =
      store === undefined
        ? 'with --take-in what was acknowledged is stored there'
        : 'they could not be stored there';
    messages.warn(`${leads} not in ${name}, so the next audit would send them again: ${help}`);
  }
  if (!hasTimes && acknowledged.size > 0)
    messages.say(`${name} does not show them: compare with a new export before the next repair`);
}

export interface RepairPlan {
  readonly target: ResolvedTarget | undefined;
  readonly mostLeads: number;
  /** Leads that the receiver acknowledged in an earlier round: another delivery would bring nothing new. */
  readonly sent: Set<string>;
  /** Opens connections as it needs them; `close` ends them. Left out without a target. */
  readonly openDelivery?: () => LeadDelivery & { close(): void };
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
  const sent = new Set<string>();
  if (sendTo === undefined) return takeIn ? { target: undefined, mostLeads, sent } : undefined;
  const target = await resolveTarget(sendTo, options, context);
  const { timeoutMs } = await context.settings();
  const signer = { ...(await resolveSigner(options, context)), headers: options.header };
  const { clock, random } = context;
  return {
    target,
    mostLeads,
    sent,
    openDelivery() {
      const { trust, proxy, url } = target;
      const poster = createPoster({ connections: 4, timeoutMs, trust, proxy });
      return {
        clock,
        createSender: (schedule) => createSender({ signer, schedule, poster, clock }),
        deliveriesOf: (leads) => outgoingDeliveries(leads, url.href, 1, random),
        close: () => poster.close(),
      };
    },
  };
}
