import type { Context } from '../../context.ts';
import type { Inbox } from '../../inbox/inbox.ts';
import type { InboxLocation } from '../../inbox/open-inbox.ts';
import type { CurrentKeys } from '../../receiver/credentials.ts';
import type { ReceiverMetrics } from '../../receiver/receiver-metrics.ts';
import type { Target } from '../../receiver/targets/target.ts';
import type { ListenOptions } from './command.ts';
import type { StopCondition } from './stop-condition.ts';

/** The values that the parts of one run share. */
export interface ListenSession {
  readonly flags: ListenOptions;
  readonly context: Context;
  readonly verifier: CurrentKeys;
  readonly targets: readonly Target[];
  readonly inbox: Inbox;
  readonly location: InboxLocation;
  readonly metrics: ReceiverMetrics | undefined;
  readonly stop: StopCondition;
}
