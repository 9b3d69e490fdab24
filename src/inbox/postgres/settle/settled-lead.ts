import type { LeaseState } from '../../inbox.ts';

/** A target that has not had a lead. */
export interface OutstandingTarget {
  /** In hex, as is the target's key. */
  readonly owner: string;
  readonly lease: number;
  /** Of the target. */
  readonly label: string;
}

interface Receiver {
  /** In hex. */
  readonly owner: string;
  /** When its lease ends that it takes now, in milliseconds since the epoch. */
  readonly leaseEnd: number;
  readonly now: number;
  /** Keys of the targets that it hands each lead to. */
  readonly wanted: readonly string[];
}

/** A lead and its targets during a transaction, and what changed. Targets are named by their keys. */
export class SettledLead {
  readonly seq: number;
  readonly firstAt: number;
  readonly settled: Set<string>;
  readonly outstanding: Map<string, OutstandingTarget>;
  readonly #receiver: Receiver;
  accepted: boolean;
  /** Another lane has accepted it, and does not know. */
  isLost = false;
  isChanged = false;
  readonly removed = new Set<string>();
  readonly leased = new Set<string>();

  constructor(
    lead: {
      readonly seq: number;
      readonly firstAt: number;
      readonly accepted: boolean;
      readonly settled: Iterable<string>;
      readonly outstanding: Iterable<readonly [string, OutstandingTarget]>;
    },
    receiver: Receiver,
  ) {
    this.seq = lead.seq;
    this.firstAt = lead.firstAt;
    this.accepted = lead.accepted;
    this.settled = new Set(lead.settled);
    this.outstanding = new Map(lead.outstanding);
    this.#receiver = receiver;
  }

  /** Notes that the target has had the lead. Returns the wanted targets that have not. */
  settle(target: string): string[] {
    if (!this.settled.has(target)) {
      this.settled.add(target);
      this.isChanged = true;
    }
    if (this.outstanding.delete(target)) this.removed.add(target);
    this.leased.delete(target);
    return this.#receiver.wanted.filter((wanted) => !this.settled.has(wanted));
  }

  /**
   * Notes that the target has had the lead, and gives the only other forward that is outstanding for it, unless a receiver
   * that runs wants that one; undefined where there is none, or several.
   */
  settleMoved(
    target: string,
    isWanted: (target: string) => boolean,
  ): [target: string, label: string] | undefined {
    this.settle(target);
    const forwards = [...this.outstanding].filter(([, { label }]) => label.startsWith('forward '));
    const [[other, found] = []] = forwards;
    if (other === undefined || found === undefined || forwards.length > 1) return undefined;
    return this.#isLeasedElsewhere(found) || isWanted(other) ? undefined : [other, found.label];
  }

  release(target: string): void {
    const found = this.outstanding.get(target);
    if (found?.owner !== this.#receiver.owner) return;
    this.outstanding.set(target, { ...found, lease: 0 });
    this.leased.add(target);
  }

  lease(target: string): LeaseState {
    if (this.settled.has(target)) return 'settled';
    const found = this.outstanding.get(target);
    if (found === undefined) return 'not outstanding';
    if (this.#isLeasedElsewhere(found)) return 'busy';
    const { owner, leaseEnd } = this.#receiver;
    this.outstanding.set(target, { ...found, owner, lease: leaseEnd });
    this.leased.add(target);
    return 'leased';
  }

  #isLeasedElsewhere({ owner, lease }: OutstandingTarget): boolean {
    return owner !== this.#receiver.owner && lease > this.#receiver.now;
  }
}
