import { setMaxListeners } from 'node:events';
import { ConfigError } from '../errors.ts';
import type { Poster } from '../http/client/poster.ts';
import { type Release, Slots } from '../sender/slots.ts';
import {
  canForge,
  type Forgery,
  forgeryKinds,
  type OutgoingDelivery,
  type Signer,
} from '../sender/sign-request.ts';
import { type Attempt, type AttemptOutcome, createSender, fixedWaits } from '../sender/sender.ts';
import { type Clock, slept } from '../time/clock.ts';
import { unverified } from '../webhook/scheme.ts';
import type { SandboxLead } from './data/lead-set.ts';
import { hashText } from './data/seeded-random.ts';
import { type DeliveryFault, FaultInjector, type Faults } from './faults.ts';
import { defaultConcurrency, type WebhookOptions } from './sandbox-options.ts';

const unsigned: Signer = { scheme: unverified, key: undefined };
const defaultRetryMs = [1000, 5000, 30_000];
/** The longest time that a reordered delivery waits for another attempt to overtake it. */
const overtakenWithinMs = 1000;

interface DeliveriesOptions {
  readonly seed: number;
  readonly poster: Poster;
  readonly clock: Clock;
  readonly onAttempt: (attempt: RecordedAttempt) => void;
}

/**
 * Delivers each lead to the webhook, if there is one. Leads get their slots in order. A lead that has a slot may be
 * dropped, or give it back to be overtaken; else its attempts follow until one is acknowledged or none is left.
 * Any attempt may be a forgery, and an acknowledged delivery may be repeated once.
 *
 * `acknowledged` holds the ids of the leads whose genuine delivery was answered 200, and `pending` is the number of
 * deliveries that are neither acknowledged nor dead. `overtaken` holds the reordered deliveries, which begin after
 * the next attempt of any lead. `acknowledgedId` is the id of the last acknowledged delivery, which the forgery
 * `reusedNonce` sends with another lead.
 */
export function createDeliveries(webhook: WebhookOptions | undefined, options: DeliveriesOptions) {
  const { signer = unsigned, retryMs = defaultRetryMs, faults = {}, concurrency } = webhook ?? {};
  const { poster, clock, seed, onAttempt } = options;
  rejectImpossibleForgeries(signer, faults);
  const attempts: RecordedAttempt[] = [];
  const acknowledged = new Set<string>();
  const injector = new FaultInjector<DeliveryFault>(seed, faults);
  const sender = createSender({ signer, schedule: fixedWaits(retryMs), poster, clock });
  const slots = new Slots(concurrency ?? defaultConcurrency);
  const stop = new AbortController();
  const { signal } = stop;
  // Every waiting delivery listens to it.
  setMaxListeners(0, signal);
  const overtaken = new Set<() => Promise<void>>();
  let pending = 0;
  let acknowledgedId: string | undefined;

  async function begin(lead: SandboxLead): Promise<void> {
    const release = await slots.acquire();
    const drawn = injector.drawFirst(['drop', 'reorder'], faultKey(lead));
    if (drawn === undefined) return attemptUntilOver(lead, [], release);
    if (drawn.name === 'drop') {
      record(recordDrop(deliveryOf(lead), clock.now()));
      finish(lead, undefined);
    } else {
      letBeOvertaken(lead, drawn.fault.amountMs ?? overtakenWithinMs);
    }
    release();
  }

  function letBeOvertaken(lead: SandboxLead, withinMs: number): void {
    const deliverLater = async (): Promise<void> =>
      attemptUntilOver(lead, ['reorder'], await slots.acquire());
    overtaken.add(deliverLater);
    void slept(clock, withinMs, signal).then((isDue) => {
      if (isDue && overtaken.delete(deliverLater)) void deliverLater();
    });
  }

  /** The first attempt uses `firstSlot`; each later attempt waits for a new slot. */
  async function attemptUntilOver(
    lead: SandboxLead,
    deliveryFaults: readonly DeliveryFault[],
    firstSlot: Release,
  ): Promise<void> {
    const delivery = deliveryOf(lead);
    let isGenuineDue = false;
    for (let number = 1; ; number += 1) {
      const release = number === 1 ? firstSlot : await slots.acquire();
      const forgery: Forgery | undefined = isGenuineDue
        ? undefined
        : drawForgery(`${faultKey(lead)} ${number}`);
      const attempt: Attempt = await sender.attempt(delivery, number, forgery);
      if (signal.aborted) return;
      record(recordAttempt(attempt, number === 1 ? deliveryFaults : []));
      const isAcknowledged = attempt.outcome === 'acknowledged';
      const isOver = isAcknowledged || attempt.retryInMs === undefined;
      // An accepted forgery does not deliver the lead, so the genuine request follows at once.
      isGenuineDue = isAcknowledged && forgery !== undefined;
      if (isOver && !isGenuineDue) finish(lead, isAcknowledged ? attempt : undefined);
      startOvertaken();
      release();
      if (isGenuineDue) continue;
      if (isOver || !(await slept(clock, attempt.retryInMs, signal))) return;
    }
  }

  async function repeat({ delivery, number }: Attempt): Promise<void> {
    pending += 1;
    const release = await slots.acquire();
    const attempt = await sender.attempt(delivery, number + 1);
    if (signal.aborted) return;
    record(recordAttempt(attempt, ['duplicate']));
    pending -= 1;
    startOvertaken();
    release();
  }

  function drawForgery(key: string): Forgery | undefined {
    const usedId = acknowledgedId;
    const possible = forgeryKinds.filter((kind) => kind !== 'reusedNonce' || usedId !== undefined);
    const kind = injector.drawFirst(possible, key)?.name;
    if (kind !== 'reusedNonce') return kind && { kind };
    return usedId === undefined ? undefined : { kind, usedId };
  }

  function record(attempt: RecordedAttempt): void {
    attempts.push(attempt);
    if (attempt.outcome === 'acknowledged' && !attempt.forged) acknowledged.add(attempt.leadId);
    onAttempt(attempt);
  }

  /** Ends the delivery of a lead; without an acknowledged attempt it has failed. */
  function finish(lead: SandboxLead, attempt: Attempt | undefined): void {
    if (lead.hasOwnStatus !== true) lead.status = attempt === undefined ? 'failed' : 'delivered';
    pending -= 1;
    if (attempt === undefined) return;
    acknowledgedId = attempt.delivery.id;
    if (injector.draw('duplicate', faultKey(lead)) !== undefined) void repeat(attempt);
  }

  /** They ask for a slot before the ended attempt frees its own. */
  function startOvertaken(): void {
    for (const deliverLater of [...overtaken]) {
      overtaken.delete(deliverLater);
      void deliverLater();
    }
  }

  function deliveryOf(lead: SandboxLead): OutgoingDelivery {
    const id = deliveryId(seed, lead.id);
    return { id, leadId: lead.id, target: webhook?.url ?? '', body: Buffer.from(lead.text()) };
  }

  return {
    attempts: attempts as readonly RecordedAttempt[],
    acknowledged: acknowledged as ReadonlySet<string>,
    injector,
    get pending() {
      return pending;
    },
    deliver(lead: SandboxLead): void {
      if (webhook === undefined) return;
      pending += 1;
      void begin(lead);
    },
    close(): void {
      stop.abort();
      sender.close();
    },
  };
}

/**
 * An attempt to deliver a lead as it really happened, whatever the receiver reports. `deliveryId` is the same for every
 * attempt of the lead, `attempt` is its number from 1, and `at` the time when it was sent, in ISO 8601.
 */
export interface RecordedAttempt {
  readonly deliveryId: string;
  readonly leadId: string;
  readonly target: string;
  readonly attempt: number;
  readonly at: string;
  /** Only HTTP 200 acknowledges; a dropped attempt was never sent. */
  readonly outcome: AttemptOutcome | 'dropped';
  readonly durationMs: number;
  readonly status?: number;
  /** The reason why there was no response: `timeout`, or a code such as `ECONNREFUSED`. */
  readonly error?: string;
  readonly faults: readonly DeliveryFault[];
  /** A receiver that verifies must refuse such an attempt. */
  readonly forged: boolean;
}

function recordStart({ id, leadId, target }: OutgoingDelivery, number: number, sentAt: number) {
  return { deliveryId: id, leadId, target, attempt: number, at: new Date(sentAt).toISOString() };
}

function recordDrop(delivery: OutgoingDelivery, now: number): RecordedAttempt {
  const start = recordStart(delivery, 1, now);
  return { ...start, outcome: 'dropped', durationMs: 0, faults: ['drop'], forged: false };
}

function recordAttempt(attempt: Attempt, faults: readonly DeliveryFault[]): RecordedAttempt {
  const { delivery, number, sentAt, outcome, result, forgery } = attempt;
  return {
    ...recordStart(delivery, number, sentAt),
    outcome,
    durationMs: Math.round(result.durationMs),
    ...(result.ok ? { status: result.status } : { error: result.code }),
    faults: forgery === undefined ? faults : [...faults, forgery.kind],
    forged: forgery !== undefined,
  };
}

/**
 * A receiver would be right to accept a forgery that the scheme cannot show, but the record would call it
 * forged.
 */
function rejectImpossibleForgeries(signer: Signer, faults: Faults<DeliveryFault>): void {
  const impossible = forgeryKinds.find((kind) => faults[kind] !== undefined && !canForge(signer, kind));
  if (impossible === undefined) return;
  throw new ConfigError(`the scheme '${signer.scheme.name}' cannot show the fault ${impossible}`, {
    hint: (front) =>
      `it does not sign what that fault forges; use another ${front.option('scheme')}, or leave the fault out`,
  });
}

/** The documentation prints runs of seed 1: another key than this, without the 0 too, would change their faults. */
const faultKey = ({ id }: SandboxLead): string => `${id} 0`;

function deliveryId(seed: number, leadId: string): string {
  const half = (salt: string): string => hashText(`${salt} ${leadId}`, seed).toString(32).padStart(7, '0');
  return `msg_${half('a')}${half('b')}`;
}
