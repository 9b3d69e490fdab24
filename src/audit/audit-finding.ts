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
