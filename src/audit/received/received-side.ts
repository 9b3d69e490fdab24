import type { ReceivedLeads } from '../../inbox/received-leads.ts';
import type { FindingClass } from '../audit-finding.ts';

/** What was received, and what is known beside the leads. */
export interface ReceivedSide {
  readonly leads: ReceivedLeads;
  /** What only a receiver's own record shows, where this is none. */
  readonly untold: readonly FindingClass[];
  /** Whether it is known when each lead was received. */
  readonly hasTimes: boolean;
  /** When the received leads were written down, ms; undefined where that is now. */
  readonly writtenAt?: number | undefined;
  /** Why deliveries were rejected, by the ids in their bodies: evidence that they came, and no more. */
  rejections(): Promise<ReadonlyMap<string, string>>;
}
