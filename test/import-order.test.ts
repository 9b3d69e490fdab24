import { readFileSync, readdirSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';

const src = fileURLToPath(new URL('../src', import.meta.url));

/** From the ground up: a file may import from its own tier and those before it, never from a later one. */
const tiers: readonly (readonly string[])[] = [
  ['errors', 'secret', 'version.d'],
  ['json', 'time'],
  ['lead'],
  ['webhook', 'files'],
  ['service', 'inbox', 'http', 'tls', 'output', 'config'],
  ['receiver', 'sender'],
  ['sandbox', 'check', 'audit', 'doctor', 'inspect', 'library'],
  ['commands'],
  ['program'],
  ['parse-argv'],
  ['run-command', 'report-error'],
  ['main', 'context'],
  ['entry'],
];

/** Modules that reach outside: not for the pure folders. */
const impure =
  /^(node:)?(fs|net|tls|http|https|http2|dgram|child_process|worker_threads|undici|libsql|conf)($|\/)/;

interface Arrow {
  readonly from: string;
  readonly to: string;
  readonly typeOnly: boolean;
  /** Of the package, when it is not a file of ours. */
  readonly outside: boolean;
}

function arrowsOf(file: string, text: string): Arrow[] {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const arrows: Arrow[] = [];
  const add = (specifier: ts.Node | undefined, typeOnly: boolean): void => {
    if (specifier === undefined || !ts.isStringLiteralLike(specifier)) return;
    const outside = !specifier.text.startsWith('.');
    const to = outside ? specifier.text : relative(src, resolve(src, dirname(file), specifier.text));
    arrows.push({ from: file, to, typeOnly, outside });
  };
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node)) {
      const bindings = node.importClause?.namedBindings;
      const allTypes =
        node.importClause?.name === undefined &&
        bindings !== undefined &&
        ts.isNamedImports(bindings) &&
        bindings.elements.every((element) => element.isTypeOnly);
      add(node.moduleSpecifier, node.importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword || allTypes);
    } else if (ts.isExportDeclaration(node)) {
      add(node.moduleSpecifier, node.isTypeOnly);
    } else if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
      add(node.arguments[0], false);
    } else if (
      ts.isCallExpression(node) &&
      ts.isIdentifier(node.expression) &&
      node.expression.text === 'require'
    ) {
      add(node.arguments[0], false);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return arrows;
}

const folder = (file: string): string => file.split('/')[0]?.replace(/\.ts$/, '') ?? '';
const tier = (file: string): number => tiers.findIndex((names) => names.includes(folder(file)));

function faults(arrows: readonly Arrow[]): string[] {
  return arrows.flatMap(({ from, to, typeOnly, outside }) => {
    const arrow = `${from} → ${to}`;
    if (outside) {
      if (['json', 'time', 'lead', 'webhook'].includes(folder(from)) && impure.test(to))
        return [`${arrow}: must stay pure`];
      const mayUseCommander =
        /^(parse-argv|program|main)\.ts$|^commands\/(.+\/)?(command|[a-z]+-flags)\.ts$/.test(from);
      if (to === 'commander' && !typeOnly && !mayUseCommander) return [`${arrow}: not for commander`];
      return [];
    }
    if (tier(to) === -1) return [`${arrow}: a folder without a tier`];
    if (folder(to) === 'context')
      return typeOnly || folder(from) === 'entry' ? [] : [`${arrow}: as a type only`];
    if (typeOnly) return [];
    return tier(to) > tier(from) ? [`${arrow}: against the order`] : [];
  });
}

/** Folders of one tier may know each other, in one direction. */
function cycles(arrows: readonly Arrow[]): string[] {
  const inner = arrows.filter(
    (arrow) => !arrow.typeOnly && !arrow.outside && folder(arrow.from) !== folder(arrow.to),
  );
  const neighbours = (from: string): Set<string> =>
    new Set(inner.filter((arrow) => folder(arrow.from) === from).map((arrow) => folder(arrow.to)));
  const found = new Set<string>();
  const walk = (at: string, path: readonly string[]): void => {
    if (path.includes(at)) found.add([...path.slice(path.indexOf(at)), at].join(' → '));
    else for (const to of neighbours(at)) walk(to, [...path, at]);
  };
  for (const start of new Set(inner.map((arrow) => folder(arrow.from)))) walk(start, []);
  return [...found];
}

const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
const arrows = files.flatMap((file) => arrowsOf(file, readFileSync(join(src, file), 'utf8')));

describe('the import order', () => {
  it('goes one way', () => {
    expect(arrows.length).toBeGreaterThan(50);
    expect(faults(arrows)).toEqual([]);
  });

  it('has no cycle between folders', () => {
    expect(cycles(arrows)).toEqual([]);
  });

  it('is only broken by arrows that it would show', () => {
    const drawn = (from: string, line: string): string[] => faults(arrowsOf(from, line));
    expect(drawn('lead/raw-lead.ts', "import { x } from '../service/listing/listing.ts';")).toHaveLength(1);
    expect(drawn('lead/raw-lead.ts', "import fs from 'node:fs';")).toHaveLength(1);
    expect(drawn('webhook/check-delivery.ts', "const net = await import('node:net');")).toHaveLength(1);
    expect(drawn('inbox/store.ts', "import { run } from '../commands/listen/run.ts';")).toHaveLength(1);
    expect(drawn('config/load.ts', "import { processHost } from '../context.ts';")).toHaveLength(1);
    expect(drawn('commands/list/run.ts', "import { Option } from 'commander';")).toHaveLength(1);
    expect(drawn('config/load.ts', "import type { Globals } from '../context.ts';")).toEqual([]);
    expect(drawn('commands/list/command.ts', "import { Option } from 'commander';")).toEqual([]);
  });
});
