import { parseTimestamp, timestampFormats } from '../timestamp.ts';
import type { HmacMatch } from './search-hmac.ts';

/** The flags with which the scheme `custom` accepts such deliveries; undefined where no flags can. */
export function customFlags(match: HmacMatch): string | undefined {
  const { signature, secret, content, timestamp, timestampHeader, idHeader } = match;
  if (signature.prefix === undefined || signature.capitals || secret.encoding === undefined) return undefined;
  if (timestamp !== undefined && timestampHeader === undefined) return undefined;
  const format = timestampFormats.find(
    (candidate) => timestamp !== undefined && isPlausible(parseTimestamp(timestamp, candidate)),
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

/** Between 2001 and 2100: seconds read as milliseconds are earlier, milliseconds read as seconds are later. */
const isPlausible = (ms: number | undefined): boolean => ms !== undefined && ms > 1e12 && ms < 4.1e12;
