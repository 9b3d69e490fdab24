import { messageOf } from '../errors.ts';
import type { Context } from '../context.ts';
import type { Answer } from '../http/server/send-answer.ts';
import { CannotStoreError } from '../inbox/cannot-store-error.ts';
import type { Inbox, Source, TakeResult } from '../inbox/inbox.ts';
import { answerFor, type Settled } from '../webhook/answer.ts';
import type { Delivery } from '../webhook/delivery.ts';
import { checkDelivery, type CheckedDelivery, type Policy } from '../webhook/check-delivery.ts';
import { nonceKey } from '../webhook/replay.ts';
import { type Rejection, rejection } from '../webhook/rejection.ts';
import type { Dispatched, Dispatcher } from './dispatch.ts';
import type { SimulatedFailures } from './simulated-failures.ts';
import type { DeliveryReport } from './events.ts';

export interface DeliveryHandlerOptions {
  readonly policy: Policy;
  readonly inbox: Inbox;
  readonly carrier: Dispatcher;
  readonly rehearsal: SimulatedFailures;
  readonly clock: Context['clock'];
  readonly messages: Context['messages'];
  /** Shows what became of a delivery; resolves when there is room to show more. */
  readonly show: (report: DeliveryReport, delivery: Delivery) => Promise<void> | void;
  /** What else a rejected delivery would have matched. */
  readonly explain?: ((delivery: Delivery, rejection: Rejection) => readonly string[]) | undefined;
}

/** Where every delivery is dealt with, in the contract's order: examine, dedupe and store, hand on, answer. */
export class DeliveryHandler {
  readonly #options: DeliveryHandlerOptions;
  #busy = 0;
  #whenIdle: (() => void)[] = [];

  constructor(options: DeliveryHandlerOptions) {
    this.#options = options;
  }

  /** Resolves when no delivery is being dealt with. */
  idle(): Promise<void> {
    return this.#busy === 0 ? Promise.resolve() : new Promise((resolve) => this.#whenIdle.push(resolve));
  }

  async handle(delivery: Delivery): Promise<Answer> {
    const { policy, clock, rehearsal } = this.#options;
    this.#busy += 1;
    try {
      const examined = checkDelivery(delivery, policy, clock.now());
      if (examined.kind === 'rejected') return await this.refuse(delivery, examined);
      const failure = rehearsal.failureFor(examined.leadId);
      if (failure === undefined) return await this.takeIn(examined, 'push');
      await rehearsal.wait();
      return await this.refuse(delivery, failure, examined.leadId);
    } finally {
      this.#busy -= 1;
      if (this.#busy === 0) for (const resolve of this.#whenIdle.splice(0)) resolve();
    }
  }

  /** Stores the lead, hands it on, and tells what to answer. */
  async takeIn(examined: CheckedDelivery, source: Source): Promise<Answer> {
    const { leadId } = examined;
    this.#watchRotation(examined.key);
    let taken: TakeResult | undefined;
    let carried: Dispatched | undefined;
    try {
      taken = await this.#store(examined, source);
      if (taken.kind === 'pending') carried = await this.#options.carrier.carry(examined, taken);
    } catch (error) {
      if (!(error instanceof CannotStoreError)) throw error;
      return this.#report(examined, rejection('cannot_store', error.message), { source });
    }
    const delay = this.#options.rehearsal.wait();
    if (delay !== undefined) await delay;
    if (taken.kind === 'rejected') return this.#report(examined, taken, { source });
    const { attempt, firstAt, differs } = taken;
    const handed = carried?.handed;
    const kind = carried?.kind ?? taken.kind;
    return this.#report(examined, { kind, leadId }, { source, attempt, firstAt, differs, handed });
  }

  /** Keeps and shows a delivery that is not taken in. */
  async refuse(delivery: Delivery, refused: Rejection, leadId?: string): Promise<Answer> {
    const { inbox, messages, explain } = this.#options;
    inbox.reject([{ delivery, rejection: refused, leadId }]).catch((error: unknown) => {
      messages.note('reject', `${messageOf(error)}; rejected deliveries are not kept`);
    });
    const explanation = explain?.(delivery, refused);
    return this.#report({ delivery }, refused, { leadId, explanation });
  }

  /** The first secret is the current one: who still uses another has to be told before it can go. */
  #watchRotation(key: number): void {
    if (key < 1) return;
    const { messages, policy } = this.#options;
    messages.note('rotation', `deliveries still come with secret ${key + 1} of ${policy.keys.length}`);
  }

  async #store(examined: CheckedDelivery, source: Source): Promise<TakeResult> {
    const { delivery, leadId, nonce } = examined;
    const { inbox, policy } = this.#options;
    const [taken] = await inbox.take([
      {
        delivery,
        leadId,
        source,
        nonce: nonce === undefined ? undefined : nonceKey(policy.scheme.name, nonce),
      },
    ]);
    if (taken === undefined) throw new Error('the inbox gave no verdict');
    return taken;
  }

  async #report(
    about: Pick<CheckedDelivery, 'delivery'> & Partial<Pick<CheckedDelivery, 'lead' | 'leadId' | 'warnings'>>,
    verdict: Settled,
    more: Partial<DeliveryReport>,
  ): Promise<Answer> {
    const { clock, rehearsal, show } = this.#options;
    const { delivery } = about;
    const given = answerFor(verdict);
    const answer =
      verdict.kind === 'rejected' ? given : { ...given, status: rehearsal.statusFor(given.status) };
    const refused = verdict.kind === 'rejected' ? verdict : undefined;
    const room = show(
      {
        source: 'push',
        ...more,
        receivedAt: delivery.receivedAt,
        verdict: verdict.kind,
        status: answer.status,
        durationMs: Math.max(0, clock.now() - delivery.receivedAt),
        remote: delivery.remote,
        method: delivery.method,
        path: delivery.path,
        reason: refused?.reason,
        detail: refused?.detail,
        leadId: about.leadId ?? more.leadId,
        lead: refused === undefined ? about.lead?.bytes : undefined,
        warnings: about.warnings,
      },
      delivery,
    );
    if (room !== undefined) await room;
    return answer;
  }
}
