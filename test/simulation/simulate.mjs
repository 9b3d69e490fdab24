// The whole system from seeds: `npm run simulate -- --seeds 1000`, `-- --seed 7`, `-- --mutants`, `-- --commit`.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { bundleProgram, bundleSimulation } from './bundle.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const [, script, first, worldFile] = process.argv;

if (first === '--worker') {
  const world = await import(pathToFileURL(worldFile).href);
  world.work();
} else {
  mkdirSync(`${root}/.cache/simulation`, { recursive: true });
  // Of this run alone: a change of the source does not reach the children that start later.
  const folder = mkdtempSync(`${root}/.cache/simulation/run-`);
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  process.on('SIGINT', () => process.exit(130));
  process.on('SIGTERM', () => process.exit(143));
  const files = await bundleSimulation(folder);
  const world = await import(pathToFileURL(files.world).href);
  process.exitCode = await world.simulate(process.argv.slice(2), {
    root,
    folder,
    program: files.program,
    worker: [script, '--worker', files.world],
    bundleProgram,
  });
}
