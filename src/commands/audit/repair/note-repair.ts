import type { RepairResult } from '../../../audit/repair/repair.ts';
import type { Messages } from '../../../output/messages.ts';
import { counted, grouped } from '../../../output/terminal/progress.ts';
import { whyNotAcknowledged } from '../../flags/target/not-reached.ts';
import type { OpenedReceived } from '../opened-received.ts';
import type { RepairPlan } from './open-repair.ts';

interface RepairFacts {
  /** Leads that were to be repaired. */
  readonly found: number;
  /** Leads beside them that were acknowledged in an earlier round. */
  readonly sentBefore: number;
  readonly arrived: number;
  readonly plan: Pick<RepairPlan, 'target' | 'takeIn'>;
  readonly received: Pick<OpenedReceived, 'name' | 'hasTimes'>;
  readonly isInterrupted: boolean;
}

/** Says what a repair did, and what it did not do. */
export function noteRepair(
  { repaired, acknowledged: { size: acknowledged }, unseen, tally, isSilent }: RepairResult,
  { found, sentBefore, arrived, plan: { target, takeIn }, received, isInterrupted }: RepairFacts,
  messages: Pick<Messages, 'say' | 'warn' | 'note'>,
): void {
  if (sentBefore > 0) {
    const they = `leads that were acknowledged in an earlier round and are still not in ${received.name}`;
    messages.note('sent before', `${they} are not sent again`);
    if (found === 0) return;
  }
  const of = `of ${grouped(found)}`;
  const done =
    target === undefined
      ? `${grouped(repaired.size)} ${of} leads stored in ${received.name}`
      : `${grouped(acknowledged)} ${of} leads acknowledged by ${target.url.origin}`;
  if (isInterrupted) {
    const rest = target === undefined ? '' : '; what was in flight may have arrived as well';
    messages.warn(`interrupted: ${done} before that${rest}`);
    return;
  }
  messages.say(done);
  if (arrived > 0) messages.say(`${counted(arrived, 'lead', 'leads')} came meanwhile, without a repair`);
  const first = tally?.firstFailure?.result;
  const wasReached = tally !== undefined && (tally.answered > 0 || repaired.size > 0);
  if (wasReached && first !== undefined && acknowledged + arrived < found) {
    const left = counted(found - acknowledged - arrived, 'lead was', 'leads were');
    const untried = found - arrived - acknowledged - tally.failed;
    const rest = isSilent
      ? '; nothing was acknowledged for five minutes, and the repair was ended'
      : untried > 0
        ? `; after ${grouped(tally.failed)} of them the others were not tried`
        : '';
    messages.warn(`${left} not acknowledged: ${whyNotAcknowledged(first)}${rest}`);
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
