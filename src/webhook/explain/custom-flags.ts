import { timestampFormats } from '../scheme-options.ts';
import { parseTimestamp } from '../timestamp.ts';
import { joinFlags, secretFlag, shellWord } from './finding.ts';
import type { SignatureMatch } from './search-signature.ts';

/**
 * The flags with which the scheme `custom` accepts such deliveries; undefined where no flags can. `here`: the scheme that
 * the secret was given for.
 */
export function customFlags(match: SignatureMatch, here: string): string | undefined {
  const { signature, algorithm, key, content, timestamp, id } = match;
  if (signature.prefix === undefined || match.timeUnit !== undefined) return undefined;
  const isInside = timestamp?.prefix !== undefined;
  if (isInside && (timestamp.header !== signature.header || signature.prefix === '')) return undefined;
  const format = timestampFormats.find(
    (candidate) => timestamp !== undefined && isPlausible(parseTimestamp(timestamp.value, candidate)),
  );
  if (timestamp !== undefined && format === undefined) return undefined;
  const flags = ['--scheme custom', `--signature-header ${shellWord(signature.header)}`];
  if (algorithm !== 'hmac-sha256') flags.push(`--algorithm ${algorithm}`);
  if (signature.encoding !== 'hex') flags.push(`--encoding ${signature.encoding}`);
  if (signature.prefix !== '') flags.push(`--prefix ${shellWord(signature.prefix)}`);
  if (signature.separator !== undefined && !(isInside && signature.separator === ',')) {
    flags.push(`--separator ${shellWord(signature.separator)}`);
  }
  const usual = timestamp === undefined ? '{body}' : '{timestamp}.{body}';
  if (content !== usual) flags.push(`--signed-content ${shellWord(content.replaceAll('\n', '\\n'))}`);
  if (isInside) flags.push(`--timestamp-prefix ${shellWord(timestamp.prefix)}`);
  if (timestamp !== undefined && !isInside) flags.push(`--timestamp-header ${shellWord(timestamp.header)}`);
  if (format !== undefined && format !== 'unix') flags.push(`--timestamp-format ${format}`);
  if (id !== undefined) flags.push(`--nonce-header ${shellWord(id.header)}`);
  if (key.encoding !== 'utf8' && key.encoding !== 'none') flags.push(`--secret-encoding ${key.encoding}`);
  return joinFlags(...flags, secretFlag(here, 'custom', key.shell));
}

/** Between 2001 and 2100: seconds read as milliseconds are earlier, milliseconds read as seconds are later. */
export const isPlausible = (ms: number | undefined): boolean => ms !== undefined && ms > 1e12 && ms < 4.1e12;
