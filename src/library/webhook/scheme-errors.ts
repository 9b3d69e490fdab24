import { webhookMessages } from '../../messages/webhook.ts';
import { errorsIn } from './secret-errors.ts';

/** Of any scheme. */
export const schemeError = errorsIn(webhookMessages);

/** Runs what reads a scheme or a secret. */
export function withSchemeErrors<T>(read: () => T): T {
  try {
    return read();
  } catch (thrown) {
    throw schemeError(thrown);
  }
}
