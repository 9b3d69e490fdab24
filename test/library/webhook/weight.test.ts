import { fileURLToPath } from 'node:url';
import { type OutputChunk, rolldown } from 'rolldown';
import { beforeAll, describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('../../..', import.meta.url));

let chunks: Map<string, OutputChunk>;
beforeAll(async () => {
  const bundle = await rolldown({ cwd: root, input: 'src/library/webhook.ts', platform: 'node' });
  const { output } = await bundle.generate({ format: 'esm', minify: true });
  await bundle.close();
  chunks = new Map(output.flatMap((one) => (one.type === 'chunk' ? [[one.fileName, one]] : [])));
});

const holds = ({ moduleIds }: OutputChunk, modules: RegExp): boolean =>
  moduleIds.some((id) => modules.test(id));

/** All chunks that can be loaded, at the import or at any later call, except for entries that `left` matches. */
function loaded(left: RegExp): OutputChunk[] {
  const found = new Set<OutputChunk>();
  const load = (name: string): void => {
    const chunk = chunks.get(name);
    if (chunk === undefined || found.has(chunk)) return;
    found.add(chunk);
    chunk.imports.forEach(load);
    for (const later of chunk.dynamicImports) {
      const entry = chunks.get(later)?.facadeModuleId ?? '';
      if (!left.test(entry)) load(later);
    }
  };
  load('webhook.js');
  return [...found];
}

const size = (some: readonly OutputChunk[]): number =>
  some.reduce((sum, { code }) => sum + Buffer.byteLength(code), 0);

/** Loaded for a scheme with public keys, or one that is defined by its parts. */
const otherSchemes = 'defined-scheme';
/** Loaded where the application verifies itself. */
const ownVerifiers = 'own-verifier';
/** Loaded where leads are read by a schema. */
const schemas = 'lead-schema';
/** Loaded by `sign`. */
const otherCalls = 'sign-delivery';
/** Loaded where the id of a lead is not `id`. */
const otherIds = 'id-field-option';
/** Loaded to say what is wrong with the options, or with what was given as a request. */
const texts = '(scheme|secret)-errors|option-fault|no-request|parsed-body-hint';

describe('webhook, minified and without the explanation', () => {
  it('is below 41.8 kB where verify is called with a shared secret, what that loads later included', () => {
    const all = loaded(
      new RegExp(
        `(explain-refusal|${texts}|${otherSchemes}|${otherCalls}|${otherIds}|${ownVerifiers}|${schemas})\\.ts$`,
      ),
    );
    expect(all.some((chunk) => holds(chunk, /verify-delivery\.ts$/))).toBe(true);
    expect(all.some((chunk) => holds(chunk, /webhook\/explain\//))).toBe(false);
    expect(size(all)).toBeLessThan(41_800);
  });

  it('is below 61.6 kB with every scheme and sign', () => {
    const all = loaded(new RegExp(`(explain-refusal|${texts}|${otherIds}|${ownVerifiers}|${schemas})\\.ts$`));
    expect(all.some((chunk) => holds(chunk, /webhook\/explain\//))).toBe(false);
    expect(size(all)).toBeLessThan(61_600);
  });

  it('loads only errors at the import', () => {
    expect(size(loaded(/./))).toBeLessThan(4000);
  });

  it('needs no dependency, and nothing of receiver and inbox', () => {
    const all = [...chunks.values()];
    const outside = all.flatMap(({ imports }) => imports).filter((name) => !chunks.has(name));
    expect(outside.filter((name) => !/^node:(buffer|crypto|util|util\/types|zlib)$/.test(name))).toEqual([]);
    expect(all.filter((chunk) => holds(chunk, /[\\/](receiver|inbox)[\\/]|node_modules/))).toEqual([]);
  });
});
