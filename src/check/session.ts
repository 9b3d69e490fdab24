import { testIdPrefixes } from '../lead/test-id.ts';
import { jsonRequest, signatureHeaders, type SignedRequest, type Signer } from '../sender/sign-request.ts';
import type { Clock } from '../time/clock.ts';
import type { Endpoint } from './endpoint.ts';
import { type Answer, exchange, type ExchangeOptions, type WireRequest } from './exchange.ts';

export interface CheckRequest extends WireRequest {
  /** Continues the sentence "it answered 401 …": `to a wrong one`. */
  readonly form?: string | undefined;
  readonly leadId?: string | undefined;
  /** The headers that would prove this body: a receiver that gets others must not disclose them. */
  readonly genuine: SignedRequest['headers'];
  /** A shell line that prints the body, where it is too long to be shown. */
  readonly bodyCommand?: string | undefined;
  /** A text made of the token, and the shell expression, behind the `$`, that makes it again. */
  readonly shellValue?: { readonly text: string; readonly expression: string } | undefined;
}

export interface Exchange {
  readonly request: CheckRequest;
  readonly answer: Answer;
}

/** How many leads of this id the receiver has stored; a text says why that is not known. */
export type AskOracle = (leadId: string) => Promise<number | string>;

interface SessionOptions extends ExchangeOptions {
  readonly endpoint: Endpoint;
  readonly signer: Signer;
  readonly mayWrite: boolean;
  readonly run: string;
  readonly oracle: AskOracle | undefined;
}

interface DeliveryOptions {
  readonly body?: Uint8Array;
  readonly id?: string;
  readonly signedAt?: number;
  readonly target?: string;
}

/** The means that probes share: leads, signatures, the way to the receiver, and a record of all that was said. */
export class CheckSession {
  readonly endpoint: Endpoint;
  readonly signer: Signer;
  readonly mayWrite: boolean;
  readonly clock: Clock;
  readonly wire: ExchangeOptions;
  readonly oracle: AskOracle | undefined;
  readonly exchanges: Exchange[] = [];
  mostOpen = 10;
  readonly idPrefix: string;
  readonly #waiting: (() => void)[] = [];
  #open = 0;
  #leads = 0;

  constructor({ endpoint, signer, mayWrite, clock, timeoutMs, signal, oracle, run }: SessionOptions) {
    this.endpoint = endpoint;
    this.signer = signer;
    this.mayWrite = mayWrite;
    this.clock = clock;
    this.wire = { timeoutMs, signal, clock };
    this.oracle = oracle;
    this.idPrefix = `${testIdPrefixes.check}${run}-`;
  }

  newLead(more?: Readonly<Record<string, unknown>>): TestLead {
    this.#leads += 1;
    return testLead(`${this.idPrefix}${this.#leads}`, this.clock.now(), more);
  }

  deliveryOf(lead: TestLead, options: DeliveryOptions = {}): CheckRequest {
    const { signer, endpoint } = this;
    const { body = jsonOf(lead), id = deliveryId(lead) } = options;
    const { target = endpoint.url.href, signedAt = lead.madeAt } = options;
    const genuine = signatureHeaders(signer, { target, id, body }, signedAt);
    return { method: 'POST', ...jsonRequest(signer, genuine, body), genuine, leadId: lead.id };
  }

  deliveryOfBody(text: string): CheckRequest {
    return { ...this.deliveryOf(this.newLead(), { body: Buffer.from(text) }), leadId: undefined };
  }

  async send(request: CheckRequest): Promise<Exchange> {
    if (this.#open >= this.mostOpen) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.#open += 1;
    const answer = await exchange(this.endpoint, request, this.wire);
    this.#open -= 1;
    this.#waiting.shift()?.();
    const done = { request, answer };
    this.exchanges.push(done);
    return done;
  }

  accepted(): string[] {
    const ids = this.exchanges.flatMap(({ request: { leadId }, answer }) =>
      leadId !== undefined && answer.answered && answer.status >= 200 && answer.status < 300 ? [leadId] : [],
    );
    const numberOf = (id: string): number => Number(id.slice(this.idPrefix.length));
    return [...new Set(ids)].sort((a, b) => numberOf(a) - numberOf(b));
  }
}

/** Schemes send this as the id of a delivery, and use it as their nonce. */
export const deliveryId = ({ id }: TestLead): string => `msg_${id}`;

export interface TestLead {
  readonly id: string;
  readonly value: Readonly<Record<string, unknown>>;
  /** In milliseconds since the epoch; its deliveries are signed at this time. */
  readonly madeAt: number;
}

/** Numbers reserved for fiction (North American Numbering Plan), so that no real phone rings. */
const phone = '+1 202-555-0142';

/** A lead of section 2 of the specification that cannot be mistaken for a real one. */
function testLead(id: string, madeAt: number, more: Readonly<Record<string, unknown>> = {}): TestLead {
  const contact = { name: 'Leads Check', email: `${id}@example.com`, phone };
  const metadata = { source: 'leads-check' };
  const createdAt = new Date(madeAt).toISOString();
  return { id, value: { id, category: 'test', contact, metadata, createdAt, ...more }, madeAt };
}

export const jsonOf = ({ value }: TestLead): Buffer => Buffer.from(JSON.stringify(value));

export const withContentType = (request: CheckRequest, type: string): CheckRequest => ({
  ...request,
  headers: request.headers.map(([name, value]) => [name, name === 'Content-Type' ? type : value] as const),
});
