import { mkdtempSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { once } from 'node:events';
import type { PostgresAddress } from './address.ts';
import { Cluster } from './cluster.ts';

/** Every project of the tests loads this file on its own, and one database is enough for the run. */
const shared: typeof globalThis & { leadsPostgres?: Promise<() => Promise<void>> } = globalThis;

/** Where tests ask for the database of the run. */
export const socketVariable = 'LEADS_TEST_POSTGRES';

/** What they are answered, as JSON: null where there are no binaries. */
export type Answer = { readonly address: PostgresAddress | null } | { readonly error: string };

/** Starts the database of the run when the first test asks for it, and stops it after the last. */
export default async function postgresOnDemand(): Promise<() => Promise<void>> {
  shared.leadsPostgres ??= listen();
  return await shared.leadsPostgres;
}

async function listen(): Promise<() => Promise<void>> {
  let starting: Promise<Cluster | undefined> | undefined;
  const start = async (): Promise<Cluster | undefined> => {
    const cluster = await Cluster.start();
    if (cluster === undefined) {
      process.stderr.write(
        `no PostgreSQL for ${process.platform}-${process.arch} among the packages: its tests are skipped\n`,
      );
    }
    return cluster;
  };
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    starting ??= start();
    starting.then(
      (cluster) => socket.end(JSON.stringify({ address: cluster?.address ?? null } satisfies Answer)),
      (error: unknown) => socket.end(JSON.stringify({ error: String(error) } satisfies Answer)),
    );
  });
  const path = join(mkdtempSync(join(tmpdir(), 'postgres-')), 'ask');
  server.listen(path);
  await once(server, 'listening');
  server.unref();
  process.env[socketVariable] = path;
  let stopping: Promise<void> | undefined;
  // Called once for each project.
  return () => {
    server.close();
    stopping ??= starting?.then((cluster) => cluster?.stop());
    return stopping ?? Promise.resolve();
  };
}
