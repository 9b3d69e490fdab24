import type { IncomingMessage, ServerResponse } from 'node:http';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { freshHome, leads, type Run } from '../../support/run.ts';
import { type Scripted, scripted } from '../../support/service.ts';

export const envOf = (url: string) => ({ LEADS_API_KEY: 'key-0123456789', LEADS_BASE_URL: url });

/** A service as `scripted` makes it, which is closed at the end of the test. */
export async function serving(
  answer: (request: IncomingMessage, response: ServerResponse, nth: number) => void,
): Promise<Scripted> {
  const service = await scripted(answer);
  onTestFinished(() => service.close());
  return service;
}

/** The number of the page that a cursor such as `c3` names; 0 for the first page. */
export const cursorOf = (url = ''): number =>
  Number(new URL(url, 'http://x').searchParams.get('cursor')?.slice(1) ?? 0);

/** Ends an export: a rejected key is not tried again. */
export const refuse = (response: ServerResponse): void =>
  void response.writeHead(401).end('{"error":"no","message":"not now"}');

export interface Exporting {
  readonly home: string;
  readonly file: string;
  readonly run: (...flags: readonly string[]) => Promise<Run>;
  /** The ids of the leads in the file. */
  readonly ids: () => string[];
}

/** Exports to the file `out` of one home, with these flags each time. */
export function exporting(url: string, ...flags: readonly string[]): Exporting {
  const home = freshHome();
  const file = join(home, 'out');
  return {
    home,
    file,
    run: (...more) => leads(['export', '-o', file, ...flags, ...more], { env: envOf(url), home }),
    ids: () => idsIn(readFileSync(file, 'utf8')),
  };
}

/** Exports to one file night after night, with a bookmark. */
export function nightly(url: string, ...flags: readonly string[]): Exporting {
  const exports = exporting(url, ...flags);
  return {
    ...exports,
    run: (...more) => exports.run('--bookmark', join(exports.home, 'b'), ...more),
  };
}

export const idsIn = (ndjson: string): string[] =>
  ndjson.split('\n').flatMap((line) => (line === '' ? [] : [(JSON.parse(line) as { id: string }).id]));
