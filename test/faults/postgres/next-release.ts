import { mkdtempSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'rolldown';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const list = 'export const migrations';

/** One more step of the schema than this release has. */
interface NextStep {
  /** The oldest schema version whose programs may still write after it. */
  readonly writableFrom: number;
  /** `S.` stands for the schema's name. */
  readonly statements: string;
}

/** Builds the program as its next release would be; gives the path of its entry. */
export async function buildNextRelease({ writableFrom, statements }: NextStep): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'leads-next-'));
  const step = `{ writableFrom: ${writableFrom}, statements: (schema) => sql\`${statements.replaceAll('S.', '${schema}.')}\` }`;
  const changed: string[] = [];
  await build({
    cwd: root,
    input: 'src/entry.ts',
    platform: 'node',
    external: ['libsql', 'postgres'],
    plugins: [
      {
        name: 'next-release',
        transform: {
          filter: { id: /postgres[\\/]migrations\.ts$/ },
          handler(code) {
            if (code.includes(list)) changed.push(list);
            return `${code.replace(list, 'const migrationsOfThisRelease')}
              ${list} = [...migrationsOfThisRelease, ${step}];`;
          },
        },
      },
    ],
    transform: {
      target: 'node20.19',
      define: { LEADS_VERSION: JSON.stringify('0.0.0-next'), LEADS_SINGLE_FILE: 'false' },
    },
    output: { dir: folder, format: 'cjs', entryFileNames: 'main.cjs', chunkFileNames: '[name]-[hash].cjs' },
  });
  if (changed.length === 0) throw new Error('the steps of the schema are not where this looks for them');
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  return join(folder, 'main.cjs');
}
