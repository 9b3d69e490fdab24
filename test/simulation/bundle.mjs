// Bundles the product and the simulation: one file each, so that each simulated process can have modules of its own.
import { mkdir, writeFile } from 'node:fs/promises';
import { rolldown } from 'rolldown';

const root = new URL('../..', import.meta.url).pathname;

/** Gives the files' places: `program` for the processes, `world` to be imported. */
export async function bundleSimulation(folder) {
  await mkdir(folder, { recursive: true });
  const world = await bundle('test/simulation/main.ts', 'esm', { cwd: root, external: ['libsql'] });
  const files = { program: `${folder}/program.cjs`, world: `${folder}/world.mjs` };
  await bundleProgram(root, files.program);
  await writeFile(files.world, world);
  return files;
}

/** The product alone, of the source below a folder. */
export async function bundleProgram(cwd, file) {
  await writeFile(file, await bundle('test/simulation/program.ts', 'cjs', { cwd, external: ['libsql'] }));
}

async function bundle(input, format, { cwd, external }) {
  const made = await rolldown({
    cwd,
    platform: 'node',
    input,
    external,
    transform: {
      target: 'node20.19',
      define: {
        LEADS_VERSION: '"0.0.0-simulation"',
        LEADS_SINGLE_FILE: 'false',
        LEADS_PAGE_FOLDER: '"./inspect/"',
      },
    },
  });
  const { output } = await made.generate({
    format,
    codeSplitting: false,
    comments: false,
    dynamicImportInCjs: false,
  });
  await made.close();
  return output[0].code;
}
