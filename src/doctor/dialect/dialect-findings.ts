import type { LeadsError } from '../../errors.ts';
import type { ClockSight } from '../service/clock-drift.ts';
import type { FilterFinding } from './filters/find-filter.ts';
import type { LimitFinding } from './paging/find-limit.ts';
import type { PositionFinding } from './paging/find-position.ts';
import type { TimeFilterFinding } from './filters/find-time-filter.ts';
import type { LeadOrder } from './lead-order.ts';
import type { CapFinding } from './paging/page-cap.ts';
import type { StatusField } from './filters/find-status-field.ts';
import type { RateHeaders } from './rate-headers.ts';

/** What the list operation of a service turned out to be. */
export interface DialectFindings extends ClockSight {
  readonly kind: 'examined';
  readonly requests: number;
  /** JSON Pointer to the array of leads. */
  readonly items: string;
  /** Leads on the first page. */
  readonly count: number;
  /** Whether the leads have ids by the name in force; otherwise fields that may be it. */
  readonly id: { readonly isThere: boolean; readonly name: string; readonly candidates: readonly string[] };
  readonly order: LeadOrder;
  readonly rate: RateHeaders | undefined;
  /** How long further requests are refused, where that ended the questions; ms, undefined where that is not known. */
  readonly refusedFor: { readonly ms: number | undefined } | undefined;
  readonly limit: LimitFinding;
  readonly cap: CapFinding;
  readonly position: PositionFinding;
  readonly statusFields: readonly StatusField[];
  readonly status: FilterFinding;
  readonly category: FilterFinding;
  readonly since: TimeFilterFinding;
  readonly until: TimeFilterFinding;
}

export type Examination =
  | DialectFindings
  /** The service could not be asked, or its answer holds no leads. */
  | (ClockSight & { readonly kind: 'failed'; readonly error: LeadsError });
