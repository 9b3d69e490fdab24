import { type Secret, withoutSecrets } from '../../secret.ts';

/** Text from the service without the key: a service may quote the key that it rejects. */
export const redact = (text: string, key: Secret): string => withoutSecrets(text, [key], key.toString());

/** A body of the service without the key, whatever its chunks; every other byte stays. */
export async function* redactBody(
  body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  key: Secret,
): AsyncGenerator<Uint8Array, void, undefined> {
  // Part of a key may stand at the end of a chunk, percent-encoded in the longest case.
  const longestPart = key.reveal().length * 3 - 1;
  let held = '';
  for await (const chunk of body) {
    const text = redact(held + Buffer.from(chunk).toString('latin1'), key);
    held = text.slice(-longestPart);
    yield asBytes(text.slice(0, -longestPart));
  }
  yield asBytes(held);
}

/** One character a byte, but for the ellipsis that stands for a key: no byte is decoded to that. */
const asBytes = (text: string): Uint8Array =>
  Buffer.from(text.replaceAll('…', Buffer.from('…').toString('latin1')), 'latin1');
