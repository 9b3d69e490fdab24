import { unreceivedClasses } from '../../audit/classify-lead.ts';
import { type ComparedSides, Repair, type RepairMeans, type RepairReceiver } from '../../audit/repair.ts';
import type { Context } from '../../context.ts';
import { counted, grouped, showProgress } from '../../output/terminal/progress.ts';
import { resolveSigner } from '../flags/resolve-scheme.ts';
import {
  notReached,
  type ResolvedTarget,
  resolveTarget,
  whyNotAcknowledged,
} from '../flags/delivery-target.ts';
import type { RepairFlagOptions } from './command.ts';

export interface RepairPlan extends RepairMeans {
  readonly delivery: (ResolvedTarget & RepairReceiver) | undefined;
  readonly mostLeads: number;
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
  const acknowledgedEver = new Set<string>();
  if (sendTo === undefined) return takeIn ? { delivery: undefined, mostLeads, acknowledgedEver } : undefined;
  const target = await resolveTarget(sendTo, options, context);
  const { timeoutMs } = await context.settings();
  const signer = { ...(await resolveSigner(options, context)), headers: options.header };
  return { delivery: { ...target, timeoutMs, signer }, mostLeads, acknowledgedEver };
}

export type RepairedFindings = Pick<Repair, 'repaired' | 'failure'>;

const nothingRepaired: RepairedFindings = { repaired: new Set(), failure: undefined };

/**
 * Repairs what a whole audit has found, and says what it did, or why it did nothing: a list that may be incomplete proves
 * no loss, and more findings than `--max-repair` have another cause. Throws the reason of an interruption, after it has
 * said what was done until then.
 */
export async function repairFindings(
  sides: ComparedSides,
  plan: RepairPlan | undefined,
  { clock, random, signal, messages, status }: RepairContext,
): Promise<RepairedFindings> {
  const { audit, received } = sides;
  const unreceived = unreceivedClasses.reduce((sum, kind) => sum + (audit.counts.byClass[kind] ?? 0), 0);
  if (plan === undefined || unreceived === 0) return nothingRepaired;
  const whyNot = whyNotRepaired(audit.isProven, unreceived, plan.mostLeads);
  if (whyNot !== undefined) {
    messages.warn(`nothing was repaired: ${whyNot}`);
    return nothingRepaired;
  }
  const progress = showProgress(status, clock);
  const onProgress = (leads: number): void => progress.update(leads, unreceived);
  const repair = new Repair(sides, plan, { clock, random, signal, onProgress });
  await repair.run();
  progress.clear();
  const { repaired, arrived, sentBefore, tally, failure } = repair;
  if (sentBefore > 0) {
    const leads = `leads that were acknowledged in an earlier round and are still not in ${received.name}`;
    messages.note('sent before', `${leads} are not sent again`);
  }
  const { delivery } = plan;
  const triedCount = unreceived - sentBefore - arrived;
  const done = doneText(repair, triedCount, delivery, received.name);
  const inFlight = delivery === undefined ? '' : '; what was in flight may have arrived as well';
  if (signal.aborted) messages.warn(`interrupted: ${done} before that${inFlight}`);
  signal.throwIfAborted();
  const wasReached = repaired.size > 0 || tally.answered > 0;
  if (triedCount > 0) {
    messages.say(done);
    if (wasReached) noteUnacknowledged(repair, triedCount, messages);
    noteUnseen(repair, received, messages);
  }
  // A receiver that was not reached at all is the error that ends the command.
  const result = tally.firstFailure?.result;
  if (failure !== undefined || delivery === undefined || wasReached || result?.ok !== false)
    return { repaired, failure };
  return { repaired, failure: notReached(result.code, delivery) };
}

type RepairContext = Pick<Context, 'clock' | 'random' | 'signal' | 'messages' | 'status'>;

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
  { repaired, arrived, acknowledged, failure }: Repair,
  triedCount: number,
  delivery: RepairReceiver | undefined,
  name: string,
): string {
  if (delivery !== undefined)
    return `${grouped(acknowledged.size)} of ${grouped(triedCount)} leads acknowledged by ${delivery.url.origin}`;
  const stored = failure === undefined ? 'stored' : 'seen stored';
  return `${grouped(repaired.size - arrived)} of ${grouped(triedCount)} leads ${stored} in ${name}`;
}

function noteUnacknowledged(
  { acknowledged, tally: { firstFailure, failed } }: Repair,
  triedCount: number,
  messages: Pick<Context['messages'], 'warn'>,
): void {
  const lacking = triedCount - acknowledged.size;
  if (firstFailure === undefined || lacking === 0) return;
  const leads = counted(lacking, 'lead was', 'leads were');
  const untried = lacking > failed ? `; after ${grouped(failed)} of them the others were not tried` : '';
  messages.warn(`${leads} not acknowledged: ${whyNotAcknowledged(firstFailure.result)}${untried}`);
}

function noteUnseen(
  { repaired, acknowledged, failure }: Repair,
  { name, hasTimes, store }: ComparedSides['received'],
  messages: Pick<Context['messages'], 'say' | 'warn'>,
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
