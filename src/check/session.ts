import { testIdPrefixes } from '../lead/raw-lead.ts';
import { jsonRequest, signatureHeaders, type SignedRequest, type Signer } from '../sender/sign-request.ts';
import { Slots } from '../sender/slots.ts';
import type { Endpoint } from './endpoint.ts';
import { type Answer, exchange, type ExchangeOptions, type WireRequest } from './exchange.ts';

export interface CheckRequest extends WireRequest {
  /** Continues the sentence "it answered 401 …": `to a wrong one`. */
  readonly phrase?: string | undefined;
  /** Undefined where the body holds no lead. */
  readonly leadId?: string | undefined;
  /** The headers that would prove this body: a receiver that gets others must not disclose them. */
  readonly genuine: SignedRequest['headers'];
  /** A text made of the token, and the shell expression, behind the `$`, that makes it. */
  readonly shellValue?: { readonly text: string; readonly expression: string } | undefined;
}

export interface Exchange {
  readonly request: CheckRequest;
  readonly answer: Answer;
}

export const isAcknowledged = ({ answer: { status = 0 } }: Exchange): boolean =>
  status >= 200 && status < 300;

/** How many leads of this id the receiver has stored; a text says why that is not known. */
export type AskOracle = (leadId: string) => Promise<number | string>;

interface SessionOptions extends ExchangeOptions {
  readonly endpoint: Endpoint;
  readonly signer: Signer;
  /** Whether the receiver may be sent genuine leads, which it stores. */
  readonly mayStore: boolean;
  readonly runName: string;
  readonly oracle: AskOracle | undefined;
}

interface DeliveryParts {
  readonly phrase?: string;
  readonly lead?: TestLead;
  readonly body?: string | Buffer;
  readonly id?: string;
  readonly signedAt?: number;
  readonly target?: string;
}

export type CheckSession = ReturnType<typeof createSession>;

/** All probes share a session: it makes and signs test leads, sends them, and keeps every exchange. */
export function createSession(options: SessionOptions) {
  const { endpoint, signer, clock } = options;
  const idPrefix = `${testIdPrefixes.check}${options.runName}-`;
  const exchanges: Exchange[] = [];
  const connections = new Slots(10);
  let leadCount = 0;

  /** A lead of section 2 of the specification that cannot be mistaken for a real one; `more` replaces members. */
  function newLead(more?: Readonly<Record<string, unknown>>): TestLead {
    leadCount += 1;
    const id = `${idPrefix}${leadCount}`;
    const madeAt = clock.now();
    const contact = { name: 'Leads Check', email: `${id}@example.com`, phone };
    const metadata = { source: 'leads-check' };
    const createdAt = new Date(madeAt).toISOString();
    return { id, value: { id, category: 'test', contact, metadata, createdAt, ...more }, madeAt };
  }

  /** A genuine delivery of a new lead, with other parts where they are given. */
  function delivery({ phrase, lead = newLead(), ...parts }: DeliveryParts = {}): CheckRequest {
    const { id = deliveryId(lead), signedAt = lead.madeAt, target = endpoint.url.href } = parts;
    const body = Buffer.from(parts.body ?? JSON.stringify(lead.value));
    const genuine = signatureHeaders(signer, { target, id, body }, signedAt);
    return { method: 'POST', ...jsonRequest(signer, genuine, body), genuine, leadId: lead.id, phrase };
  }

  return {
    ...options,
    idPrefix,
    exchanges,
    newLead,
    delivery,

    deliveryWithoutLead: (body: string, phrase?: string): CheckRequest => ({
      ...delivery({ body }),
      phrase,
      leadId: undefined,
    }),

    async send(request: CheckRequest): Promise<Exchange> {
      const release = await connections.acquire();
      const answer = await exchange(endpoint, request, options);
      release();
      const completed = { request, answer };
      exchanges.push(completed);
      return completed;
    },

    /** The ids of the leads that the receiver acknowledged, in the order in which they were made. */
    accepted(): string[] {
      const ids = exchanges.filter(isAcknowledged).flatMap(({ request }) => request.leadId ?? []);
      const numberOf = (id: string): number => Number(id.slice(idPrefix.length));
      return [...new Set(ids)].sort((a, b) => numberOf(a) - numberOf(b));
    },
  };
}

/** Schemes send this as the id of a delivery, and use it as their nonce. */
export const deliveryId = ({ id }: TestLead): string => `msg_${id}`;

export interface TestLead {
  readonly id: string;
  readonly value: Readonly<Record<string, unknown>>;
  /** In milliseconds since the epoch; its deliveries are signed at this time. */
  readonly madeAt: number;
}

/** A number that is reserved for fiction (North American Numbering Plan), so that no real phone rings. */
const phone = '+1 202-555-0142';
