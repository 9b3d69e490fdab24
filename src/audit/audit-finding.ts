/** What can be wrong with a lead, the first that fits: see `leads help audit`. */
export const problemClasses = ['refused', 'missing', 'extra', 'different', 'pending', 'late'] as const;

/** What is said of leads that nothing can be said of yet, or any more. */
export const openClasses = ['unsettled', 'beyond-horizon'] as const;

export const findingClasses = [...problemClasses, ...openClasses] as const;

export type FindingClass = (typeof findingClasses)[number];

/** The classes of leads that are in the service's list and not in the inbox. */
export type UnreceivedClass = 'refused' | 'missing';

/** One lead that is not the same on both sides. */
export interface Finding {
  readonly class: FindingClass;
  readonly id: string;
  /** Of `different`: dotted names of the fields whose values are not the same, at most 20. */
  readonly fields: readonly string[] | null;
  /** As the service has it, or else as it was received. */
  readonly createdAt: string | null;
  /** ISO 8601. */
  readonly receivedAt: string | null;
  /** Of `refused`: why it was rejected; otherwise what else is known. */
  readonly reason: string | null;
}

/** The service's clock may be ahead of ours by that much; a time further in the future says nothing about an age. */
const mostAheadMs = 86_400_000;

interface AgesOptions {
  readonly settleMs: number;
  readonly lateAfterMs: number;
  /** When the received leads were written down, if that was before the audit. */
  readonly receivedUntil?: number | undefined;
}

/** How old leads are when the audit begins; all in milliseconds. */
export class Ages {
  readonly startedAt: number;
  readonly #settledBefore: number;
  readonly #lateAfterMs: number;

  constructor(startedAt: number, { settleMs, lateAfterMs, receivedUntil = startedAt }: AgesOptions) {
    this.startedAt = startedAt;
    this.#settledBefore = Math.min(startedAt, receivedUntil) - settleMs;
    this.#lateAfterMs = lateAfterMs;
  }

  /** Whether its delivery may still be under way. A lead whose age is unknown is taken for an old one. */
  isUnsettled(createdAt: number | undefined): boolean {
    return (
      createdAt !== undefined && createdAt > this.#settledBefore && createdAt < this.startedAt + mostAheadMs
    );
  }

  isLate(createdAt: number | undefined, receivedAt: number | undefined): boolean {
    if (createdAt === undefined || receivedAt === undefined) return false;
    return receivedAt - createdAt > this.#lateAfterMs;
  }
}

/** As JSON shows it. */
export const isoTime = (ms: number | undefined): string | null =>
  ms === undefined ? null : new Date(ms).toISOString();

/** A remark on a lead, if that is so. */
export const ageUnknown = (createdAt: number | undefined): string | null =>
  createdAt === undefined ? 'its age is unknown: createdAt is no ISO 8601 time' : null;
