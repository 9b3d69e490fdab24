import { DataError, LeadNotFoundError, messageOf, type Problem } from '../errors.ts';

export const noDeliveryOfLead = (leadId: string) =>
  new LeadNotFoundError(`the inbox has no delivery of the lead '${leadId}'`);

export const deliveryWithoutLead = (number: number) =>
  new DataError(`delivery number ${number} of the inbox holds no lead`, { kind: 'delivery-without-lead' });

/** A note for the operator of a receiver. It is printed once a run for each kind and cause; a warning is printed each time. */
export interface ReceiverNote extends Problem {
  readonly cause?: string;
  readonly isWarning?: true;
}

export function forwardsStopped(error: unknown): ReceiverNote {
  const cause = messageOf(error);
  return { kind: 'forwards-stopped', message: `leads that wait are not forwarded now: ${cause}`, cause };
}

/** `number` from 1: the first secret is the current one. `replaced`: how often they were, after which the note is printed again. */
export const formerSecretUsed = (number: number, secrets: number, replaced = 0): ReceiverNote => ({
  kind: 'former-secret-used',
  message: `deliveries still use secret ${number} of ${secrets}`,
  cause: `${replaced} ${number}`,
});

export const leadForNoTarget = (leadId: string): ReceiverNote => ({
  kind: 'lead-for-no-target',
  message: `the lead '${leadId}' meets the condition of no target: it is stored and forwarded to none, and so are others like it`,
});

export const rejectedNotKept = (error: unknown): ReceiverNote => ({
  kind: 'rejected-not-kept',
  message: `${messageOf(error)}; rejected deliveries are not kept`,
});
