import { agreeingMs, type AuditTimes } from './classify-lead.ts';

/**
 * Decides by which clock the ages of leads are judged. It begins with the clock of this machine. Where the service's clock
 * differs, `follow` changes to that one, since it dates the leads. A listed lead may then show that the service's clock is wrong,
 * and `returnIfDisproven` changes back.
 */
export class AuditClock {
  times: AuditTimes;
  /** How far the service's clock is behind the one here, where a listed lead shows that it is wrong, ms; otherwise 0. */
  disprovenBehindMs = 0;
  readonly #timesHere: AuditTimes;

  constructor(times: Omit<AuditTimes, 'clockAheadMs'>) {
    this.#timesHere = { ...times, clockAheadMs: 0 };
    this.times = this.#timesHere;
  }

  /** `driftMs`: how far the service's clock is ahead of the one here. */
  follow(driftMs: number): void {
    if (Math.abs(driftMs) <= agreeingMs) return;
    const { startedAt, settledBefore, lateAfterMs } = this.#timesHere;
    this.times = {
      clockAheadMs: driftMs,
      startedAt: startedAt + driftMs,
      settledBefore: settledBefore + driftMs,
      lateAfterMs,
    };
  }

  /** A lead that is from the future by the service's clock alone disproves it; by both clocks, it says nothing of them. */
  returnIfDisproven(created: number, now: number): void {
    const { clockAheadMs } = this.times;
    const isFutureHere = created > now + agreeingMs;
    const isFutureForService = created > now + clockAheadMs + agreeingMs;
    if (isFutureHere || !isFutureForService) return;
    this.disprovenBehindMs = -clockAheadMs;
    this.times = this.#timesHere;
  }
}
