import { agreeingMs, type AuditTimes } from './classify-lead.ts';

/**
 * Decides by which clock the ages of leads are judged: by the service's, which dates them, unless a lead of its list shows that
 * this clock is wrong.
 */
export class AuditClock {
  times: AuditTimes;
  /** How far the service's clock is behind the one here, where a listed lead shows that it is wrong, ms; otherwise 0. */
  disprovenBehindMs = 0;
  /** The times by the clock of this machine. */
  readonly #ownTimes: AuditTimes;

  constructor(times: Omit<AuditTimes, 'clockAheadMs'>) {
    this.#ownTimes = { ...times, clockAheadMs: 0 };
    this.times = this.#ownTimes;
  }

  /** `driftMs`: how far the service's clock is ahead of the one here. */
  follow(driftMs: number): void {
    if (Math.abs(driftMs) <= agreeingMs) return;
    const { startedAt, settledBefore, lateAfterMs } = this.#ownTimes;
    this.times = {
      clockAheadMs: driftMs,
      startedAt: startedAt + driftMs,
      settledBefore: settledBefore + driftMs,
      lateAfterMs,
    };
  }

  /**
   * Returns to the clock here for a listed lead that was created later than it is by the service's clock, which is behind then,
   * but not later than it is here. A lead whose time is in the future by both clocks says nothing of them.
   */
  checkCreated(created: number, now: number): void {
    const { clockAheadMs } = this.times;
    const latest = now + agreeingMs;
    if (created > latest || created <= latest + clockAheadMs) return;
    this.disprovenBehindMs = -clockAheadMs;
    this.times = this.#ownTimes;
  }
}
