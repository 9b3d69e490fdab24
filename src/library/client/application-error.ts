import { forApplication } from '../../messages/application.ts';
import { messageFor, problemSentence } from '../../messages/catalogue.ts';
import { IncompleteError } from '../../service/listing/completion.ts';

/** The same error, with sentences and hints that name options of the client. */
export function clientError(error: unknown): unknown {
  forApplication(error, messageFor);
  if (!(error instanceof IncompleteError)) return error;
  return Object.defineProperty(error, 'why', { value: problemSentence(error.reason), enumerable: true });
}
