import { readFileSync, readdirSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { cyclesOf, type Import, importsOf } from './support/imports.ts';

const src = fileURLToPath(new URL('../src', import.meta.url));

/** From the bottom up: a file may import from its own tier and the tiers before it, never from a later one. */
const tiers: readonly (readonly string[])[] = [
  ['front', 'errors', 'secret', 'version.d'],
  ['exit-codes'],
  ['json', 'time'],
  ['host'],
  ['lead'],
  ['webhook', 'files'],
  ['service', 'inbox', 'http', 'tls', 'output', 'config', 'capture'],
  ['context'],
  ['receiver', 'sender'],
  ['sandbox', 'check', 'audit', 'doctor', 'stats'],
  ['messages'],
  ['inspect', 'library'],
  ['commands'],
  ['program'],
  ['parse-argv'],
  ['report-error'],
  ['main'],
  ['entry'],
];

const pureFolders = ['json', 'time', 'lead', 'webhook', 'capture'];

/** Modules that reach outside the process: not for the pure folders. */
const impure =
  /^(node:)?(fs|net|tls|http|https|http2|dgram|child_process|worker_threads|undici|libsql|conf)($|\/)/;

/** Runs in a browser: only the page's own files, what it and its server say to each other, and Preact. */
const page = 'inspect/web/';
const pageImports = /^inspect\/(web\/|wire\.ts$)/;

const folder = (file: string): string => file.split('/')[0]?.replace(/\.ts$/, '') ?? '';
const tier = (file: string): number => tiers.findIndex((names) => names.includes(folder(file)));

/** What an import breaks, in one line; types count like values. */
function faultOf({ from, to, typeOnly, outside }: Import): string | undefined {
  const arrow = `${from} → ${to}`;
  if (from.startsWith(page) && !(outside ? /^preact(\/|$)/ : pageImports).test(to)) {
    return `${arrow}: not for the page`;
  }
  if (to.startsWith(page) && !from.startsWith(page)) return `${arrow}: only for the page`;
  if (outside) {
    if (pureFolders.includes(folder(from)) && impure.test(to)) return `${arrow}: must stay pure`;
    if (to === 'commander' && !typeOnly && from !== 'parse-argv.ts') return `${arrow}: not for commander`;
    return undefined;
  }
  if (tier(to) === -1) return `${arrow}: a folder without a tier`;
  if (folder(to) === 'host' && !typeOnly && folder(from) !== 'entry') return `${arrow}: as a type only`;
  if (folder(to) === 'commands' && !['commands', 'program', 'parse-argv'].includes(folder(from))) {
    return `${arrow}: only the program knows the commands`;
  }
  return tier(to) > tier(from) ? `${arrow}: against the order` : undefined;
}

const faultsOf = (imports: readonly Import[]): string[] =>
  imports.map(faultOf).filter((fault) => fault !== undefined);

/** A command loads its code when it runs, and that code has the types of the command's options. */
const isFileEdge = ({ from, isLoaded }: Import): boolean => !(isLoaded && from.endsWith('/command.ts'));

const files = readdirSync(src, { recursive: true, encoding: 'utf8' })
  .filter((file) => /\.tsx?$/.test(file) && !file.endsWith('.wasm.ts'))
  .sort();
const texts = new Map(files.map((file) => [file, readFileSync(join(src, file), 'utf8')]));
const resolved = (from: string, specifier: string): string => {
  const path = relative(src, resolve(src, dirname(from), specifier));
  return /\.[a-z]+$/.test(path) ? path : `${path}.ts`;
};
const imports = [...texts].flatMap(([file, text]) => importsOf(file, text, resolved));

describe('imports', () => {
  it('go one way, from the commands down to the errors', () => {
    expect(imports.length).toBeGreaterThan(50);
    expect(faultsOf(imports)).toEqual([]);
  });

  it('form no cycle between files, imports of types included', () => {
    expect(cyclesOf(imports.filter(isFileEdge)).map((cycle) => cycle.join(' → '))).toEqual([]);
  });

  it('form no cycle between folders', () => {
    const between = imports
      .filter(({ outside }) => !outside)
      .map((one) => ({ ...one, from: folder(one.from), to: folder(one.to) }))
      .filter(({ from, to }) => from !== to);
    expect(cyclesOf(between).map((cycle) => cycle.join(' → '))).toEqual([]);
  });

  it('that break the order are found', () => {
    const faults = (from: string, line: string): string[] => faultsOf(importsOf(from, line, resolved));
    expect(faults('lead/raw-lead.ts', "import { x } from '../service/listing.ts';")).toHaveLength(1);
    expect(faults('lead/raw-lead.ts', "import type { X } from '../service/x.ts';")).toHaveLength(1);
    expect(faults('lead/raw-lead.ts', "let x: import('../service/x.ts').X;")).toHaveLength(1);
    expect(faults('lead/raw-lead.ts', "import fs from 'node:fs';")).toHaveLength(1);
    expect(faults('webhook/check-delivery.ts', "const net = await import('node:net');")).toHaveLength(1);
    expect(faults('inbox/store.ts', "import { run } from '../commands/listen/run.ts';")).toHaveLength(1);
    expect(faults('config/load.ts', "import { processHost } from '../host.ts';")).toHaveLength(1);
    expect(faults('commands/list/run.ts', "import { Option } from 'commander';")).toHaveLength(1);
    expect(faults('inspect/web/main.tsx', "import { x } from '../../secret.ts';")).toHaveLength(1);
    expect(faults('inspect/web/main.tsx', "import fs from 'node:fs';")).toHaveLength(1);
    expect(faults('inspect/http/api.ts', "import { x } from '../web/text/sentence.ts';")).toHaveLength(1);
    expect(faults('inspect/web/list/x.tsx', "import type { X } from '../../wire.ts';")).toEqual([]);
    expect(faults('inspect/web/list/x.tsx', "import { useState } from 'preact/hooks';")).toEqual([]);
    expect(faults('config/load.ts', "import type { Context } from '../context.ts';")).toHaveLength(1);
    expect(faults('config/load.ts', "import type { Host } from '../host.ts';")).toEqual([]);
  });

  it('that form a cycle are found', () => {
    const line = (from: string, to: string): Import[] =>
      importsOf(from, `import type { X } from './${to}';`, resolved);
    const open = [...line('a.ts', 'b.ts'), ...line('b.ts', 'c.ts')];
    expect(cyclesOf(open)).toEqual([]);
    expect(cyclesOf([...open, ...line('c.ts', 'a.ts')])).toEqual([['a.ts', 'b.ts', 'c.ts', 'a.ts']]);
    expect(cyclesOf(line('a.ts', 'a.ts'))).toEqual([['a.ts', 'a.ts']]);
  });

  it('form no cycle where a command loads the code that has the types of its options', () => {
    const cyclesWith = (file: string): string[][] => {
      const load = importsOf(file, "await import('./run.ts');", resolved);
      const back = importsOf(
        file.replace(/\w+\.ts$/, 'run.ts'),
        `import type { X } from './${basename(file)}';`,
        resolved,
      );
      return cyclesOf([...load, ...back].filter(isFileEdge));
    };
    expect(cyclesWith('list/command.ts')).toEqual([]);
    expect(cyclesWith('list/plan.ts')).toEqual([['list/plan.ts', 'list/run.ts', 'list/plan.ts']]);
  });
});
