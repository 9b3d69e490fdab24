import { DataError, LeadNotFoundError, messageOf, type Problem } from '../errors.ts';

export const noDeliveryOfLead = (leadId: string) =>
  new LeadNotFoundError(`the inbox has no delivery of the lead '${leadId}'`);

/** `number`: of the delivery in the inbox. */
export const deliveryWithoutLead = (number: number) =>
  new DataError(`delivery number ${number} of the inbox holds no lead`, { kind: 'delivery-without-lead' });

/** A note for the operator of a receiver. It is said once a run for each kind and cause. */
export interface ReceiverNote extends Problem {
  readonly cause?: string;
  /** It is said each time, as a warning. */
  readonly isWarning?: true;
}

export function forwardsStopped(error: unknown): ReceiverNote {
  const cause = messageOf(error);
  return { kind: 'forwards-stopped', message: `leads that wait are not forwarded now: ${cause}`, cause };
}
