import { DataError } from '../../errors.ts';
import { isObject, type Json } from '../../json/exact.ts';

const textOf = (value: Json | undefined): string | undefined =>
  typeof value === 'string' && value.trim() !== '' ? value.trim().slice(0, 500) : undefined;

/** `redact` takes the API key out of a text. The failure that a body with `error` and `message` (specification, section 7) reports; undefined for other bodies. */
export function rejectionIn(body: Json, redact: (text: string) => string): DataError | undefined {
  if (!isObject(body)) return undefined;
  const { error } = body;
  const inner = isObject(error) ? error : body;
  const code = textOf(isObject(error) ? (error['code'] ?? error['type']) : error);
  const message = textOf(inner['message']);
  if (error === undefined || error === null || error === false || (code ?? message) === undefined)
    return undefined;
  const why = message === undefined ? code : `${message}${code === undefined ? '' : ` (${code})`}`;
  return new DataError(`the service answered 200 with an error: ${redact(why ?? '')}`);
}

/** The same for bytes that may be anything. */
export function rejectionInBytes(body: Uint8Array, redact: (text: string) => string): DataError | undefined {
  try {
    return rejectionIn(JSON.parse(Buffer.from(body).toString('utf8')) as Json, redact);
  } catch {
    return undefined;
  }
}
