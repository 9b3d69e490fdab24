// `npm run bench`: what the program takes of its yardsticks. `-- --gate` compares it with the build of the stored ratios as
// well, `-- --baseline 'reason'` stores the ratios of this node, and `-- NAME…` runs other measurements (test/bench/NAME.bench.ts).
import { spawnSync } from 'node:child_process';
import { root } from './library.mjs';

const [first = '', ...rest] = process.argv.slice(2);
const modes = {
  '--gate': { LEADS_BENCH_GATE: '1' },
  '--baseline': { LEADS_BENCH_BASELINE: rest.join(' ') },
};
if (first === '--baseline' && rest.join('').trim() === '') {
  console.error("say why: npm run bench -- --baseline 'listen writes its rows in batches'");
  process.exit(2);
}
const mode = modes[first];
const names = mode === undefined && first !== '' ? [first, ...rest] : ['gate'];
const { status } = spawnSync(
  process.execPath,
  [
    ...['node_modules/vitest/vitest.mjs', 'run', '--config', '.config/vitest.ts', '--project', 'bench'],
    ...names.map((name) => `test/bench/${name}.bench.ts`),
  ],
  { cwd: root, stdio: 'inherit', env: { ...process.env, ...mode } },
);
process.exit(status ?? 1);
