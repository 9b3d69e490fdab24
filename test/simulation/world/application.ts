import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Owner, SimSocket } from '../kernel/network.ts';
import type { Random } from '../kernel/random.ts';
import type { Scheduler } from '../kernel/scheduler.ts';
import type { ApplicationAnswer } from './plan.ts';
import { countIn, type Truth } from './truth.ts';

export interface ArrivedLead {
  readonly id: string;
  readonly text: string;
  readonly client: Owner | undefined;
  /** Of the attempt. */
  readonly socket: SimSocket;
  readonly response: ServerResponse;
  /** Of its header, by which the application knows the sender. */
  readonly credential: unknown;
}

/** The application that deliveries are forwarded to. */
export class Application {
  readonly #truth: Truth;
  readonly #random: Random;
  readonly #scheduler: Scheduler;
  #answer: ApplicationAnswer | undefined;
  #until = 0;
  /** Nobody forwards before then to an application that said so. */
  #retryAt = 0;
  /** Called for each lead that arrives, with the process that sent it. */
  onLead: ((lead: ArrivedLead) => void) | undefined;
  /** Called where a lead is answered that it is to come again, and so many milliseconds later at the earliest. */
  onPutOff: ((id: string, client: Owner | undefined, ms: number) => void) | undefined;
  /** Called once, for the next request, with the process that sent it, before it is answered. */
  onNextRequest: ((client: Owner | undefined) => void) | undefined;

  constructor(truth: Truth, random: Random, scheduler: Scheduler) {
    this.#truth = truth;
    this.#random = random;
    this.#scheduler = scheduler;
  }

  break(answer: ApplicationAnswer, forMs: number): void {
    this.#answer = answer;
    this.#until = this.#scheduler.now + forMs;
  }

  heal(): void {
    this.#answer = undefined;
  }

  #current(): ApplicationAnswer | undefined {
    return this.#scheduler.now < this.#until ? this.#answer : undefined;
  }

  handle(request: IncomingMessage, response: ServerResponse): void {
    const chunks: Buffer[] = [];
    request.on('error', () => undefined);
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const socket = request.socket as unknown as SimSocket;
      const client = socket.peerOwner;
      const credential = request.headers['x-webhook-token'];
      const text = Buffer.concat(chunks).toString();
      const { id } = JSON.parse(text) as { id: string };
      this.onLead?.({ id, text, client, socket, response, credential });
      const hook = this.onNextRequest;
      this.onNextRequest = undefined;
      hook?.(client);
      this.#scheduler.after(this.#random.between(1, 30), () => this.#respond(id, client, response));
    });
  }

  #respond(id: string, client: Owner | undefined, response: ServerResponse): void {
    const answer = this.#current();
    if (answer === 'hangs' || response.destroyed) return;
    if (answer === 'absent') return void response.destroy();
    if (answer === 'refuses') return void response.writeHead(422).end('no');
    if (answer === 'fails') return void response.writeHead(500).end('no');
    if (answer === 'retry-after' && this.#scheduler.now >= this.#retryAt) {
      const seconds = this.#random.between(5, 60);
      this.#retryAt = this.#scheduler.now + seconds * 1000;
      this.onPutOff?.(id, client, seconds * 1000);
      return void response.writeHead(503, { 'retry-after': String(seconds) }).end('later');
    }
    countIn(this.#truth.taken.application, id);
    response.writeHead(200).end('ok');
  }
}
