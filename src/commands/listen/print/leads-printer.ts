import { utf8 } from '../../../json/bytes.ts';
import { escapeJson } from '../../../output/sanitize.ts';
import type { Printer } from './printer.ts';

/** Each newly accepted lead on a line, in the webhook's own bytes, compact. */
export function leadsPrinter(isTerminal: boolean): Printer {
  return {
    listening: () => '',
    delivery({ verdict, lead }) {
      if (verdict !== 'accepted' || lead === undefined) return '';
      const text = utf8(lead);
      return `${isTerminal ? escapeJson(text) : text}\n`;
    },
    backfill: () => '',
    summary: () => '',
  };
}
