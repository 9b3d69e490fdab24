import type { Context } from '../../context.ts';
import type { Outcome } from '../flags/command-spec.ts';
import { auditRound } from './audit-round.ts';
import { type AuditCommandOptions, rejectContradictions } from './options.ts';
import { withJunitOfFailure } from './print/junit-of-failure.ts';
import { openRepair } from './repair/open-repair.ts';
import { watchAudits } from './watch-audits.ts';

export async function run(options: AuditCommandOptions, context: Context): Promise<Outcome> {
  rejectContradictions(options);
  const plan = await withJunitOfFailure(options, context, () => openRepair(options, context));
  const { watch } = options;
  return watch === undefined
    ? auditRound(options, plan, context)
    : watchAudits(watch, () => auditRound(options, plan, context), context);
}
