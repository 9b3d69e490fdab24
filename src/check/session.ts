import { testIdPrefixes } from '../lead/test-id.ts';
import { jsonRequest, signatureHeaders, type SignedRequest, type Signer } from '../sender/sign-request.ts';
import type { Clock } from '../time/clock.ts';
import type { Key } from '../webhook/scheme.ts';
import type { Endpoint } from './endpoint.ts';
import { type Answer, exchange, type ExchangeOptions, type WireRequest } from './exchange.ts';
import type { AskOracle } from './oracle.ts';

/** A request of a probe. */
export interface CheckRequest extends WireRequest {
  /** The lead that is stored when it is acknowledged. */
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

interface SessionOptions extends ExchangeOptions {
  readonly endpoint: Endpoint;
  readonly signer: Signer;
  /** Distinguishes the ids of this run from those of others. */
  readonly run: string;
  readonly oracle: AskOracle | undefined;
}

/** How a delivery differs from the usual one. */
interface DeliveryOptions {
  /** Default: the lead's JSON. */
  readonly body?: Uint8Array;
  /** The id of the delivery. */
  readonly id?: string;
  /** When it is signed, in milliseconds since the epoch. */
  readonly at?: number;
  readonly key?: Key | undefined;
  /** The URL that is signed, by schemes that sign it. */
  readonly target?: string;
}

/** The means that probes share: leads, signatures, the way to the receiver, and a record of all that was said. */
export class CheckSession {
  readonly endpoint: Endpoint;
  readonly signer: Signer;
  readonly clock: Clock;
  readonly wire: ExchangeOptions;
  readonly oracle: AskOracle | undefined;
  /** Every request that was sent as HTTP, with its answer. */
  readonly exchanges: Exchange[] = [];
  readonly #run: string;
  #leads = 0;

  constructor({ endpoint, signer, clock, timeoutMs, signal, oracle, run }: SessionOptions) {
    this.endpoint = endpoint;
    this.signer = signer;
    this.clock = clock;
    this.wire = { timeoutMs, signal, clock };
    this.oracle = oracle;
    this.#run = run;
  }

  newLead(more?: Readonly<Record<string, unknown>>): TestLead {
    this.#leads += 1;
    return testLead(`${testIdPrefixes.check}${this.#run}-${this.#leads}`, this.clock.now(), more);
  }

  /** A genuine delivery of a lead. */
  deliveryOf(lead: TestLead, options: DeliveryOptions = {}): CheckRequest {
    const { signer, endpoint } = this;
    const { body = jsonOf(lead), id = deliveryId(lead) } = options;
    const { key = signer.key, target = endpoint.url.href, at: signedAt = lead.madeAt } = options;
    const genuine = signatureHeaders({ ...signer, key }, { target, id, body }, signedAt);
    return { method: 'POST', ...jsonRequest(signer, genuine, body), genuine, leadId: lead.id };
  }

  /** A body that is no lead, with a genuine credential. */
  deliveryOfBody(text: string): CheckRequest {
    return { ...this.deliveryOf(this.newLead(), { body: Buffer.from(text) }), leadId: undefined };
  }

  async send(request: CheckRequest): Promise<Exchange> {
    const answer = await exchange(this.endpoint, request, this.wire);
    const done = { request, answer };
    this.exchanges.push(done);
    return done;
  }

  /** Ids of the leads that the receiver acknowledged, in the order in which they were made. */
  accepted(): string[] {
    const ids = this.exchanges.flatMap(({ request: { leadId }, answer }) =>
      leadId !== undefined && answer.answered && answer.status >= 200 && answer.status < 300 ? [leadId] : [],
    );
    const numberOf = (id: string): number => Number(id.slice(id.lastIndexOf('-') + 1));
    return [...new Set(ids)].sort((a, b) => numberOf(a) - numberOf(b));
  }
}

/** Schemes send this as the id of a delivery, and use it as their nonce. */
export const deliveryId = ({ id }: TestLead): string => `msg_${id}`;

/** A lead that a probe made. */
export interface TestLead {
  readonly id: string;
  readonly value: Readonly<Record<string, unknown>>;
  /** In milliseconds since the epoch; its deliveries are signed at this time. */
  readonly madeAt: number;
}

/** Numbers reserved for fiction (North American Numbering Plan), so that no real phone rings. */
const phone = '+1 202-555-0142';

/**
 * A lead of section 2 of the specification that cannot be mistaken for a real one: test ids, a reserved domain, a fictional
 * number. It nests two deep.
 */
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
