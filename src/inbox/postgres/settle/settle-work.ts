import type { TargetLease } from '../../inbox.ts';
import { bytesOfText } from '../sql/text-bytes.ts';
import { hexOf } from '../sql/sql.ts';
import type { TargetNames } from '../stored-targets.ts';

/** A lease of one caller, with its names as they are stored. */
export interface StoredLease {
  readonly lease: TargetLease;
  readonly id: Uint8Array;
  /** The id in hex, which sorts as the bytes do. */
  readonly key: string;
  readonly target: Uint8Array;
  /** In hex. */
  readonly targetKey: string;
}

/** What one caller asks for. */
export interface SettleWork {
  readonly kind: 'settle' | 'settle moved' | 'release' | 'lease';
  readonly leases: readonly StoredLease[];
}

/** What one lease became: a `TakenKind`, the label of a target that has moved, nothing, or a `LeaseState`, by the kind of the work. */
export type SettleResult = string | undefined;

export const settleWork = (
  kind: SettleWork['kind'],
  leases: readonly TargetLease[],
  names: TargetNames,
): SettleWork => ({
  kind,
  leases: leases.map((lease) => {
    const id = bytesOfText(lease.leadId);
    const target = names.storedName(lease.target);
    return { lease, id, key: hexOf(id), target, targetKey: hexOf(target) };
  }),
});
