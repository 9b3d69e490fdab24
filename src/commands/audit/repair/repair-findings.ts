import { LeadStore } from '../../../audit/repair/lead-store.ts';
import { repair, type RepairResult } from '../../../audit/repair/repair.ts';
import { repairedClasses, unreceivedLeads } from '../../../audit/repair/unreceived-leads.ts';
import type { Context } from '../../../context.ts';
import { counted, grouped, showProgress } from '../../../output/terminal/progress.ts';
import { notReached } from '../../flags/target/not-reached.ts';
import type { OpenedAudit } from '../open-audit.ts';
import type { RepairPlan } from './open-repair.ts';
import { noteRepair } from './note-repair.ts';

/** What a repair leaves. */
export interface RepairedFindings {
  readonly repaired: ReadonlySet<string>;
  /** Leads that came by themselves after they were found missing. */
  readonly arrived: ReadonlySet<string>;
  /** To be thrown once the findings are printed. */
  readonly failure: { readonly error: unknown } | undefined;
}

const nothing: RepairedFindings = { repaired: new Set(), arrived: new Set(), failure: undefined };

/**
 * Repairs what a whole audit has found, and says what it did, or why it did nothing: a list that may be incomplete proves
 * no loss, and more findings than `--max-repair` have another cause. Throws the reason of an interruption, after it has
 * said what was done until then.
 */
export async function repairFindings(
  opened: OpenedAudit,
  plan: RepairPlan | undefined,
  context: Context,
): Promise<RepairedFindings> {
  const { audit, received, baseUrl } = opened;
  const { clock, signal, messages, status } = context;
  const { byClass } = audit.counts;
  const found = repairedClasses.reduce((sum, kind) => sum + (byClass[kind] ?? 0), 0);
  if (plan === undefined || found === 0) return nothing;
  if (!audit.isProven) {
    messages.warn('nothing was repaired: the service does not show that its list is complete');
    return nothing;
  }
  if (found > plan.most) {
    const leads = counted(found, 'lead is', 'leads are');
    messages.warn(
      `nothing was repaired: ${leads} missing or refused, and --max-repair allows ${grouped(plan.most)}; ` +
        'raise it once it is clear that they were really lost',
    );
    return nothing;
  }
  const delivery = plan.openDelivery();
  const progress = showProgress(status, clock);
  const arrived = new Set<string>();
  const { sent } = plan;
  let sentBefore = 0;
  let result: RepairResult;
  try {
    result = await repair({
      leads: unreceivedLeads(audit, received.leads, {
        onArrived: (id) => arrived.add(id),
        isSent(id) {
          if (!sent.has(id)) return false;
          sentBefore += 1;
          return true;
        },
      }),
      received: received.hasTimes ? received.leads : undefined,
      store: received.store && new LeadStore({ inbox: received.store, baseUrl, clock }),
      delivery,
      signal,
      onProgress: (leads) => progress.update(leads, found),
    });
  } finally {
    progress.clear();
    delivery?.close();
  }
  for (const id of result.acknowledged) sent.add(id);
  const facts = { found: found - sentBefore, sentBefore, arrived: arrived.size, plan, received };
  noteRepair(result, { ...facts, isInterrupted: signal.aborted }, messages);
  signal.throwIfAborted();
  return { repaired: result.repaired, arrived, failure: result.failure ?? unreached(result, plan) };
}

/** No attempt was answered, and none arrived. */
function unreached({ tally, repaired }: RepairResult, { target }: RepairPlan): RepairedFindings['failure'] {
  if (repaired.size > 0) return undefined;
  if (target === undefined || tally?.firstFailure === undefined || tally.answered > 0) return undefined;
  return { error: notReached(tally.firstFailure.result, target) };
}
