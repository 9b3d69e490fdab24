import { readFileSync } from 'node:fs';
import { blocksOf } from '../../support/printed-lines.ts';

/**
 * The blocks of docs/library.md. Each is a whole module. One that pulls asks `LEADS_BASE_URL` with `LEADS_API_KEY` and ends;
 * one with `node:test` is a test that passes; one that reads `PORT` serves.
 */
export function printedExamples(): string[] {
  const text = readFileSync(new URL('../../../docs/library.md', import.meta.url), 'utf8');
  return blocksOf(text)
    .filter(({ kind }) => kind === 'js' || kind === 'ts')
    .map(({ code }) => code);
}
