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
