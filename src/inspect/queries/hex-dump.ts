import { bufferOf } from '../../json/bytes.ts';
import { mostDumped } from '../wire.ts';

const lineBytes = 16;

/** `00000010  89 50 4e 47 …  |.PNG…|` */
export function hexDump(bytes: Uint8Array): string {
  const lines: string[] = [];
  for (let at = 0; at < Math.min(bytes.length, mostDumped); at += lineBytes) {
    const line = bufferOf(bytes.subarray(at, at + lineBytes));
    const pairs = line.toString('hex').replace(/..(?=.)/g, '$& ');
    const text = line.toString('latin1').replace(/[^ -~]/g, '.');
    lines.push(`${at.toString(16).padStart(8, '0')}  ${pairs.padEnd(3 * lineBytes)} |${text}|`);
  }
  return lines.join('\n');
}
