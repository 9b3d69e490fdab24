import { CannotStoreError, type Inbox, type StoredRef } from '../../inbox/inbox.ts';
import { problemSentence, sentenceOf } from '../../messages/find-message.ts';
import { createReceiver as createCore, type Receiver } from '../../receiver/create-receiver.ts';
import { inboxRequirements } from '../../receiver/inbox-requirements.ts';
import { InFlightCount } from '../../receiver/in-flight-count.ts';
import { deliverPending } from '../../receiver/deliver-pending.ts';
import type { AnsweredDelivery } from '../../receiver/receiver-events.ts';
import { functionTarget } from '../../receiver/targets/function.ts';
import type { Target } from '../../receiver/targets/target.ts';
import { utf8 } from '../../json/bytes.ts';
import type { AttemptedLead } from '../../receiver/targets/target.ts';
import type { CheckedDelivery } from '../../webhook/check-delivery.ts';
import { pathOf } from '../../webhook/delivery.ts';
import { LazyLead } from '../webhook/lead.ts';
import { headersOf } from '../webhook/own-verifier.ts';
import { callHook, type CheckedOptions } from './checked-options.ts';
import type { LeadContext, ReceivedDelivery, ReceiverInbox } from './receiver-options.ts';

/**
 * A receiver from its start to its end: opens the inbox, and hands over what is outstanding, now and from time to time. An
 * inbox that cannot be opened is tried again at the next delivery and the next round.
 */
export class ReceiverLife {
  readonly #options: CheckedOptions;
  readonly #target;
  readonly #stop = new AbortController();
  readonly #inFlight = new InFlightCount();
  readonly #rounds: Promise<void>;
  #opened: Promise<OpenReceiver> | undefined;
  #closed: Promise<void> | undefined;

  constructor(options: CheckedOptions) {
    const { name, onLead, onLeadTimeoutMs: timeoutMs, concurrency, clock, onError } = options;
    this.#options = options;
    this.#target = functionTarget({
      name,
      call: async (lead, from, signal) => {
        await onLead(new LazyLead(lead.leadId, lead.lead.bytes), contextOf(lead, from, signal));
      },
      timeoutMs,
      concurrency,
      clock,
      sentenceOf: problemSentence,
      onError: (error, leadId) => onError(error, { leadId }),
    });
    this.#rounds = this.#runRounds();
  }

  get isClosing(): boolean {
    return this.#stop.signal.aborted;
  }

  /** Rejects with what opening the inbox failed with. */
  opened(): Promise<OpenReceiver> {
    this.#opened ??= openReceiver(this.#options, this.#target, this.#stop.signal).catch((error: unknown) => {
      this.#opened = undefined;
      throw error;
    });
    return this.#opened;
  }

  /** Work that `close` waits for. */
  counted<T>(work: () => Promise<T>): Promise<T> {
    return this.#inFlight.run(work);
  }

  close(): Promise<void> {
    this.#stop.abort();
    this.#closed ??= this.#drain();
    return this.#closed;
  }

  async #drain(): Promise<void> {
    await Promise.all([this.#rounds, this.#inFlight.idle()]);
    if (this.#opened === undefined) return;
    const opened = await this.#opened;
    await opened.receiver.idle();
    await opened.close();
  }

  async #runRounds(): Promise<void> {
    const { clock, background, retryEveryMs, onError } = this.#options;
    const { signal } = this.#stop;
    // At the start nobody else has tried for a while; later, what came a moment ago is left to the sender's retries.
    for (let sinceTried = 0; !signal.aborted; sinceTried = retryEveryMs / 2) {
      try {
        await this.#handOverPending(await this.opened(), clock.now() - sinceTried);
      } catch (error) {
        onError(error, {});
      }
      try {
        await background.sleep(retryEveryMs, signal);
      } catch {
        // Closing ends the sleep.
        return;
      }
    }
  }

  /**
   * Hands over each lead that is stored and that `onLead` has not taken; one that was tried later than `triedBefore` is left
   * to the sender's own retries. Closing ends it: leads that are being handed over are finished, and no other one is
   * started. Rejects when the inbox cannot be read.
   */
  async #handOverPending({ receiver, inbox }: OpenReceiver, triedBefore: number): Promise<void> {
    const { clock, concurrency, onError } = this.#options;
    // Half of the places, so that a delivery never waits behind a round alone.
    const most = Math.max(1, Math.floor(concurrency / 2));
    const handOver = (leadIds: readonly string[]): Promise<unknown> =>
      deliverPending(leadIds, {
        clock,
        triedBefore,
        inbox,
        receiver,
        targets: [this.#target],
        onUnreadable: (ids, error) => ids.forEach((leadId) => onError(error, { leadId })),
      });
    let some: string[] = [];
    for await (const { leadId } of inbox.unsettled(this.#target.name)) {
      if (this.isClosing) return;
      some.push(leadId);
      if (some.length < most) continue;
      await handOver(some);
      some = [];
    }
    if (!this.isClosing) await handOver(some);
  }
}

const contextOf = (
  { attempt, place }: AttemptedLead,
  { delivery, source = 'push' }: CheckedDelivery,
  signal: AbortSignal,
): LeadContext => ({
  attempt,
  signal,
  source,
  path: pathOf(delivery),
  get headers() {
    return headersOf(delivery);
  },
  get envelope() {
    return place && (JSON.parse(utf8(delivery.body)) as unknown);
  },
});

/** A receiver whose inbox is open. */
interface OpenReceiver {
  readonly receiver: Receiver;
  readonly inbox: ReceiverInbox;
  /** Closes the inbox, unless it is the application's own. */
  close(): Promise<void>;
}

/** Opens the inbox, and puts the CLI's receiver in front of it. Rejects when the inbox cannot be opened. */
async function openReceiver(
  options: CheckedOptions,
  target: Target,
  signal: AbortSignal,
): Promise<OpenReceiver> {
  const { policy, otherEvents, clock, background, onDelivery, onError, onWarning } = options;
  const requirements = { ...inboxRequirements(policy, [target]), clock, warn: onWarning };
  const isOwn = 'open' in options.inbox;
  const inbox = 'open' in options.inbox ? await options.inbox.open(requirements) : options.inbox;
  const receiver = createCore({
    policy,
    otherEvents,
    inbox: reportStorageErrors(inbox, onError),
    targets: [target],
    clock: background,
    signal,
    note: (found) => onWarning(problemSentence(found)),
    sentenceOf,
  });
  receiver.events.subscribe((event) => {
    // The lead is stored and handed over: a hook that fails is no reason to ask for it again.
    void callHook(
      () => onDelivery?.(deliveryOf(event)),
      (error) => onError(error, { leadId: event.leadId }),
    );
  });
  return { receiver, inbox, close: () => (isOwn ? inbox.close() : Promise.resolve()) };
}

function deliveryOf(event: AnsweredDelivery): ReceivedDelivery {
  const { verdict, status, reason, detail, leadId, attempt, warnings, receivedAt, durationMs } = event;
  return { verdict, status, reason, hint: detail, leadId, attempt, warnings, receivedAt, durationMs };
}

/** The same, which tells `onError` what it cannot store: its sender learns no more than a 503. */
function reportStorageErrors(
  inbox: ReceiverInbox,
  onError: CheckedOptions['onError'],
): Pick<Inbox, 'take' | 'reject' | 'settle' | 'release' | 'lease' | 'states'> {
  const reported = async <T>(refs: readonly Pick<StoredRef, 'leadId'>[], work: Promise<T>): Promise<T> => {
    try {
      return await work;
    } catch (error) {
      // Any other error is reported where it ends.
      if (error instanceof CannotStoreError) {
        onError(error, { leadId: refs.length === 1 ? refs[0]?.leadId : undefined });
      }
      throw error;
    }
  };
  return {
    take: (arrivals) => reported(arrivals, inbox.take(arrivals)),
    reject: (rejected) => inbox.reject(rejected),
    lease: (leases) => inbox.lease(leases),
    states: (leadIds) => inbox.states?.(leadIds) ?? Promise.resolve(new Map()),
    settle: (leases) => reported(leases, inbox.settle(leases)),
    release: (leases) => reported(leases, inbox.release(leases)),
  };
}
