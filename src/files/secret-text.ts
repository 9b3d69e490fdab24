import { ConfigError } from '../errors.ts';

/**
 * The text of a file that holds a secret, in UTF-8: a byte order mark and one line break at the end are the editor's. Throws a
 * `ConfigError` for UTF-16, which PowerShell writes: its bytes would make another secret. `what`: the secret, for messages.
 */
export function textOfSecret(bytes: Uint8Array, what: string): string {
  const [first, second] = bytes;
  const isUtf16 = (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff);
  if (isUtf16 || bytes.includes(0)) {
    throw new ConfigError(`${what} is UTF-16 text`, {
      hint: 'write it as UTF-8, in PowerShell with Set-Content -Encoding utf8 -NoNewline',
    });
  }
  // The decoder removes the byte order mark.
  return new TextDecoder().decode(bytes).replace(/\r?\n$/, '');
}
