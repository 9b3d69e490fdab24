import { afterAll, it } from 'vitest';
import { Cluster, type ClusterOptions } from './cluster.ts';
import { postgresNeeded } from './shared.ts';

/** Declares tests with a server of their own, which they may break; where no package has one, that they are skipped. */
export async function withCluster(
  options: ClusterOptions,
  declare: (cluster: Cluster) => void | Promise<void>,
): Promise<void> {
  const cluster = await Cluster.start(options);
  if (cluster === undefined) {
    it.skip(postgresNeeded);
    return;
  }
  afterAll(() => cluster.stop());
  await declare(cluster);
}
