import type { Network, Owner } from '../kernel/network.ts';
import { requestOn } from '../kernel/network.ts';
import type { Random } from '../kernel/random.ts';
import type { Scheduler } from '../kernel/scheduler.ts';
import type { Plan } from './plan.ts';
import type { TrueLead } from './truth.ts';

/** The shared token of every delivery: it stands in no output. */
export const token = 'tok_simulated_fedcba9876543210';

/** Between two tries of one copy, in milliseconds; after these the sender gives up. */
const pausesMs = [1_000, 5_000, 30_000, 120_000, 300_000, 600_000, 600_000];

const patienceMs = 60_000;

/** How one try ended: the status, or the code of a connection's error. */
export type TryEnd = number | string;

interface SenderOptions {
  readonly plan: Plan;
  readonly scheduler: Scheduler;
  readonly network: Network;
  readonly owner: Owner;
  readonly random: Random;
  readonly portOf: (receiver: number) => number;
  readonly onTry: (lead: TrueLead, end: TryEnd) => void;
}

/** Delivers leads as the service does: several copies in one turn, each tried again until it is acknowledged. */
export class Senders {
  readonly #options: SenderOptions;
  /** Tries that are under way or will come. */
  open = 0;

  constructor(options: SenderOptions) {
    this.#options = options;
  }

  deliver(lead: TrueLead): void {
    const { plan, random } = this.#options;
    const copies = random.chance(0.5) ? plan.copies : random.between(1, plan.copies);
    for (let n = 0; n < copies; n += 1) {
      this.open += 1;
      this.#try(lead, random.between(0, plan.receivers - 1), 0, 0.3);
    }
  }

  /** One copy, and every try of it, to one receiver. */
  deliverTo(receiver: number, lead: TrueLead): void {
    this.open += 1;
    this.#try(lead, receiver, 0, 0);
  }

  /** `wandering`: how probable it is that the next try goes to any receiver. */
  #try(lead: TrueLead, receiver: number, nth: number, wandering: number): void {
    const { plan, scheduler, random, onTry } = this.#options;
    this.#post(lead, receiver, (end) => {
      onTry(lead, end);
      const pause = pausesMs[nth];
      if (end === 200 || pause === undefined) {
        this.open -= 1;
        return;
      }
      const next = random.chance(wandering) ? random.between(0, plan.receivers - 1) : receiver;
      scheduler.after(pause * (0.5 + random.next()), () => this.#try(lead, next, nth + 1, wandering));
    });
  }

  #post(lead: TrueLead, receiver: number, done: (end: TryEnd) => void): void {
    const { scheduler, network, owner, portOf } = this.#options;
    let isDone = false;
    const finish = (end: TryEnd): void => {
      if (isDone) return;
      isDone = true;
      patience.cancel();
      done(end);
    };
    const request = requestOn(network, owner)(`http://127.0.0.1:${portOf(receiver)}/leads`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'x-webhook-token': token,
        'content-length': String(Buffer.byteLength(lead.body)),
      },
    });
    const patience = scheduler.after(patienceMs, () => {
      request.destroy();
      finish('timeout');
    });
    request.on('response', (response) => {
      response.on('end', () => finish(response.statusCode ?? 0));
      response.on('error', () => finish('ECONNRESET'));
      response.resume();
    });
    request.on('error', (error: NodeJS.ErrnoException) => finish(error.code ?? 'error'));
    request.end(lead.body);
  }
}
