import { counted } from '../output/terminal/progress.ts';
import type { ReceiverNote, ReceiverProblem } from '../receiver/problems.ts';
import type { Messages } from './message.ts';

export const receiverMessages: Messages<ReceiverProblem | ReceiverNote> = {
  'no-delivery-of-lead': ({ leadId }) => ({ message: `the inbox has no delivery of the lead '${leadId}'` }),
  'delivery-without-lead': ({ number }) => ({
    message: `delivery number ${number} of the inbox holds no lead`,
  }),
  'former-secret-used': ({ number, secrets }) => ({
    message: `deliveries still use secret ${number} of ${secrets}`,
  }),
  'rejected-not-kept': ({ why }) => ({ message: `${why}; rejected deliveries are not kept` }),
  'not-delivered-again': ({ leadIds, why }) => {
    const names = leadIds.map((id) => `'${id}'`).join(', ');
    return { message: `${why}; ${names} ${leadIds.length === 1 ? 'is' : 'are'} not handed on` };
  },
  'output-cut': ({ path, size, left }) => ({
    message:
      `${path} was cut from ${size} to ${left} bytes by another program: leads written meanwhile may be gone from it; ` +
      'rotate it by renaming it',
  }),
  'pulled-without-id': ({ leads }) => ({
    message:
      `${counted(leads, 'lead of the service has', 'leads of the service have')} no id: ` +
      `the backfill cannot take ${leads === 1 ? 'it' : 'them'} in`,
  }),
};
