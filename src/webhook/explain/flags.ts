import { parseTimestamp, timestampFormats } from '../timestamp.ts';
import type { Found } from './search.ts';

/** The flags that would make `custom` take such a delivery; undefined where no flags can. */
export function flagsFor(found: Found): string | undefined {
  const { signature, secret, content, timestamp, timestampHeader, idHeader } = found;
  if (signature.prefix === undefined || signature.capitals || secret.encoding === undefined) return undefined;
  if (timestamp !== undefined && timestampHeader === undefined) return undefined;
  const format = timestampFormats.find(
    (one) => timestamp !== undefined && plausible(parseTimestamp(timestamp, one)),
  );
  if (timestamp !== undefined && format === undefined) return undefined;
  const flags = ['--scheme custom', `--signature-header ${signature.header}`];
  if (signature.algorithm !== 'hmac-sha256') flags.push(`--algorithm ${signature.algorithm}`);
  if (signature.encoding !== 'hex') flags.push(`--encoding ${signature.encoding}`);
  if (signature.prefix !== '') flags.push(`--prefix '${signature.prefix}'`);
  if (content !== '{body}') flags.push(`--signed-content '${content.replaceAll('\n', '\\n')}'`);
  if (timestampHeader !== undefined) flags.push(`--timestamp-header ${timestampHeader}`);
  if (format !== undefined && format !== 'unix') flags.push(`--timestamp-format ${format}`);
  if (idHeader !== undefined) flags.push(`--nonce-header ${idHeader}`);
  if (secret.encoding !== 'utf8') flags.push(`--secret-encoding ${secret.encoding}`);
  return flags.join(' ');
}

/** Between 2001 and 2100: seconds read as milliseconds fall before, milliseconds read as seconds after. */
const plausible = (ms: number | undefined): boolean => ms !== undefined && ms > 1e12 && ms < 4.1e12;
