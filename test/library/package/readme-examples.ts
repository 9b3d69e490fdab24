import { readFileSync } from 'node:fs';

/**
 * The blocks of the README's section for applications. Each is a whole module. One that pulls asks `LEADS_BASE_URL` with
 * `LEADS_API_KEY` and ends; one with `node:test` is a test that passes; what serves is run in test/faults.
 */
export function readmeExamples(): string[] {
  const text = readFileSync(new URL('../../../README.md', import.meta.url), 'utf8');
  const [, section = ''] = /\n## In your application\n([^]*?)\n## /.exec(text) ?? [];
  return [...section.matchAll(/```[jt]s\n([^]*?)```/g)].map(([, code = '']) => code);
}
