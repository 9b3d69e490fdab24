import { testIdPrefixes } from '../lead/test-id.ts';
import { jsonRequest, signatureHeaders, type SignedRequest, type Signer } from '../sender/sign-request.ts';
import type { Clock } from '../time/clock.ts';
import type { Key } from '../webhook/scheme.ts';
import type { Endpoint } from './endpoint.ts';
import { type Answer, exchange, type ExchangeOptions, type WireRequest } from './raw-request.ts';
import type { AskOracle } from './oracle.ts';

/** A request of a probe. */
export interface CheckRequest extends WireRequest {
  /** The lead that is stored when it is acknowledged. */
  readonly leadId?: string | undefined;
  /** The credential that belongs to exactly this request, where it carries another: a receiver must not disclose it. */
  readonly withheld?: SignedRequest['headers'] | undefined;
  /** A shell line that prints the body, where it is too long to be shown. */
  readonly shellBody?: string | undefined;
  /** Values that derive from a secret, as shell expressions: by header name. */
  readonly shellValues?: Readonly<Record<string, string>> | undefined;
  /** The query, where it holds a secret, as a shell expression. */
  readonly shellQuery?: string | undefined;
}

export interface Exchange {
  readonly request: CheckRequest;
  readonly answer: Answer;
}

export interface SessionOptions extends ExchangeOptions {
  readonly endpoint: Endpoint;
  readonly signer: Signer;
  /** Distinguishes the ids of this run from those of others. */
  readonly run: string;
  readonly oracle: AskOracle | undefined;
}

/** How a credential differs from the usual one. */
interface Signing {
  /** In milliseconds since the epoch; default now. */
  readonly at?: number;
  readonly key?: Key | undefined;
  /** The URL that is signed, by schemes that sign it. */
  readonly target?: string;
}

/** What probes have in common: leads, signatures, the way to the receiver, and a record of all that was said. */
export class CheckSession {
  readonly endpoint: Endpoint;
  readonly signer: Signer;
  readonly clock: Clock;
  readonly wire: ExchangeOptions;
  readonly oracle: AskOracle | undefined;
  /** Every request that was sent as HTTP, with its answer; the same in every part of a run. */
  readonly exchanges: Exchange[];
  readonly #options: SessionOptions;
  readonly #leads: { count: number };

  constructor(options: SessionOptions, whole?: CheckSession) {
    const { endpoint, signer, clock, timeoutMs, signal, oracle } = options;
    this.endpoint = endpoint;
    this.signer = signer;
    this.clock = clock;
    this.wire = { timeoutMs, signal, clock };
    this.oracle = oracle;
    this.exchanges = whole?.exchanges ?? [];
    this.#options = options;
    this.#leads = whole === undefined ? { count: 0 } : whole.#leads;
  }

  /** The same session for one probe, whose time is over when `signal` is aborted. */
  within(signal: AbortSignal): CheckSession {
    return new CheckSession({ ...this.#options, signal }, this);
  }

  newLead(more?: Readonly<Record<string, unknown>>): TestLead {
    this.#leads.count += 1;
    return testLead(
      `${testIdPrefixes.check}${this.#options.run}-${this.#leads.count}`,
      this.clock.now(),
      more,
    );
  }

  /** The headers that prove a body; `id` is that of the delivery. */
  credential(body: Uint8Array, id: string, how: Signing = {}): SignedRequest['headers'] {
    const { at = this.clock.now(), key = this.signer.key, target = this.endpoint.url.href } = how;
    return signatureHeaders({ ...this.signer, key }, { target, id, body }, at);
  }

  /** A genuine delivery of a lead, of `body` where the lead's JSON is to be written in another way. */
  deliveryOf(lead: TestLead, options: { body?: Uint8Array; id?: string } & Signing = {}): CheckRequest {
    const { body = jsonOf(lead), id = deliveryId(lead), ...how } = options;
    return { ...this.#post(body, this.credential(body, id, how)), leadId: lead.id };
  }

  /** A body that is no lead, with a genuine credential. */
  deliveryOfBody(body: Uint8Array): CheckRequest {
    return this.#post(body, this.credential(body, deliveryId(this.newLead())));
  }

  async send(request: CheckRequest): Promise<Exchange> {
    const answer = await exchange(this.endpoint, request, this.wire);
    const done = { request, answer };
    this.exchanges.push(done);
    return done;
  }

  /** Ids of the leads that the receiver acknowledged, in the order in which they were sent. */
  accepted(): string[] {
    const ids = this.exchanges.flatMap(({ request: { leadId }, answer }) =>
      leadId !== undefined && answer.answered && answer.status >= 200 && answer.status < 300 ? [leadId] : [],
    );
    return [...new Set(ids)].sort((a, b) => numberOf(a) - numberOf(b));
  }

  #post(body: Uint8Array, credential: SignedRequest['headers']): CheckRequest {
    return { method: 'POST', ...jsonRequest(this.signer, credential, body) };
  }
}

/** What schemes send as the id of a delivery, and use as their nonce. */
export const deliveryId = ({ id }: TestLead): string => `msg_${id}`;

const numberOf = (id: string): number => Number(id.slice(id.lastIndexOf('-') + 1));

/** A lead that a probe made. */
export interface TestLead {
  readonly id: string;
  readonly value: Readonly<Record<string, unknown>>;
}

/** Numbers reserved for fiction (North American Numbering Plan), so that no real phone rings. */
const phone = '+1 202-555-0142';

/**
 * A lead of section 2 of the specification that cannot be mistaken for a real one: test ids, a reserved domain, a fictional
 * number. It nests two deep. `now` in milliseconds since the epoch.
 */
function testLead(id: string, now: number, more: Readonly<Record<string, unknown>> = {}): TestLead {
  const contact = { name: 'Leads Check', email: `${id}@example.com`, phone };
  const metadata = { source: 'leads-check' };
  const createdAt = new Date(now).toISOString();
  return { id, value: { id, category: 'test', contact, metadata, createdAt, ...more } };
}

export const jsonOf = ({ value }: TestLead): Buffer => Buffer.from(JSON.stringify(value));

export const withContentType = (request: CheckRequest, type: string): CheckRequest => ({
  ...request,
  headers: request.headers.map(([name, value]) => [name, name === 'Content-Type' ? type : value] as const),
});
