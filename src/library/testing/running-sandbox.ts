import type { DeliveryFault } from '../../sandbox/faults.ts';
import type { PulledLead } from '../client/pulled-lead.ts';
import type { LeadSource } from './test-sandbox-options.ts';

/** A lead of the sandbox, in the bytes that it is served and delivered in. */
export interface TestLead extends PulledLead {
  readonly id: string;
}

/** One attempt to deliver a lead: what really happened, whatever the receiver says. */
export interface SandboxDelivery {
  /** The same for every attempt, and the delivery id of schemes that send one. */
  readonly deliveryId: string;
  readonly leadId: string;
  /** URL. */
  readonly target: string;
  /** From 1. */
  readonly attempt: number;
  /** When it was sent, ISO 8601. */
  readonly at: string;
  /** Acknowledged is HTTP 200 alone; a dropped one was never sent. */
  readonly outcome: 'acknowledged' | 'refused' | 'unanswered' | 'dropped';
  readonly durationMs: number;
  /** Of the answer, when there was one. */
  readonly status?: number;
  /** Why there was none: `timeout`, or a code such as `ECONNREFUSED`. */
  readonly error?: string;
  /** What `deliveryFaults` did to it. */
  readonly faults: readonly DeliveryFault[];
  /** Whether a receiver that verifies must refuse it. */
  readonly forged: boolean;
}

/** A service that runs in this process. */
export interface RunningSandbox {
  /** Base URL without a slash at the end. What it did is also at `/sandbox/deliveries` and `/openapi.json` below it. */
  readonly url: string;
  readonly apiKey: string;
  /** All leads, oldest first. */
  leads(): TestLead[];
  /**
   * Adds a lead and delivers it: the seed's next one, or your own. Throws a `DataError` when it is no lead or its id is
   * taken.
   */
  addLead(lead?: LeadSource): TestLead;
  /** Every attempt so far, oldest first. */
  deliveries(): SandboxDelivery[];
  /** Resolves when every lead is acknowledged, or was given up after its last retry; rejects when closed before. */
  settled(): Promise<void>;
  /** Cuts what is in flight; nothing of the sandbox is open afterwards. */
  close(): Promise<void>;
}
