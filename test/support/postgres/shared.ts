import { createConnection } from 'node:net';
import type { PostgresAddress } from './address.ts';
import { type Answer, socketVariable } from './on-demand.ts';

/** The name of the test that is skipped in place of a file's tests where there is no database. */
export const postgresNeeded = 'needs PostgreSQL, which no package has for this platform';

let asked: Promise<PostgresAddress | undefined> | undefined;

/**
 * The database of the run, started when the first test asks; each test uses a schema or a database of its own in it.
 * Undefined in `npm test`, and where no package has PostgreSQL for this platform, which is a failure of `npm run prove`
 * where `CI` is set.
 */
export function sharedPostgres(): Promise<PostgresAddress | undefined> {
  asked ??= ask();
  return asked;
}

async function ask(): Promise<PostgresAddress | undefined> {
  const path = process.env[socketVariable];
  if (path === undefined) return undefined;
  let text = '';
  for await (const chunk of createConnection(path).setEncoding('utf8')) text += chunk as string;
  const answer = JSON.parse(text) as Answer;
  if ('error' in answer) throw new Error(answer.error);
  return answer.address ?? undefined;
}
