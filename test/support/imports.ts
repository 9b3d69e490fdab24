import ts from 'typescript';

/** One import in a source file, whatever its form. */
export interface Import {
  readonly from: string;
  /** A file of the source tree, or the name of a package. */
  readonly to: string;
  readonly typeOnly: boolean;
  /** A package, or a module of node. */
  readonly outside: boolean;
  /** It is `import()` or `require()`: loaded where that is reached. */
  readonly isLoaded: boolean;
}

/** Imports, exports from, `import()`, `require()` and the types `import('…')` of a file. */
export function importsOf(
  file: string,
  text: string,
  resolved: (from: string, specifier: string) => string,
): Import[] {
  const found: Import[] = [];
  const add = (specifier: ts.Node | undefined, typeOnly: boolean, isLoaded = false): void => {
    if (specifier === undefined || !ts.isStringLiteralLike(specifier)) return;
    const outside = !specifier.text.startsWith('.');
    found.push({
      from: file,
      to: outside ? specifier.text : resolved(file, specifier.text),
      typeOnly,
      outside,
      isLoaded,
    });
  };
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node)) add(node.moduleSpecifier, isTypeOnly(node));
    else if (ts.isExportDeclaration(node)) add(node.moduleSpecifier, node.isTypeOnly);
    else if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) {
      add(node.argument.literal, true);
    } else if (ts.isCallExpression(node) && isLoad(node.expression)) add(node.arguments[0], false, true);
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true));
  return found;
}

function isTypeOnly({ importClause: clause }: ts.ImportDeclaration): boolean {
  if (clause?.phaseModifier === ts.SyntaxKind.TypeKeyword) return true;
  const bindings = clause?.namedBindings;
  return (
    clause?.name === undefined &&
    bindings !== undefined &&
    ts.isNamedImports(bindings) &&
    bindings.elements.every((element) => element.isTypeOnly)
  );
}

const isLoad = (callee: ts.Expression): boolean =>
  callee.kind === ts.SyntaxKind.ImportKeyword || (ts.isIdentifier(callee) && callee.text === 'require');

/** A shortest cycle through each file that stands in one; each cycle once. */
export function cyclesOf(imports: readonly Import[]): string[][] {
  const targets = new Map<string, Set<string>>();
  for (const { from, to, outside } of imports) {
    if (!outside) targets.set(from, (targets.get(from) ?? new Set()).add(to));
  }
  const found = new Map<string, string[]>();
  for (const start of [...targets.keys()].sort()) {
    const cycle = shortestWayBack(start, targets);
    const members = [...new Set(cycle)].sort().join();
    if (cycle !== undefined && !found.has(members)) found.set(members, cycle);
  }
  return [...found.values()];
}

/** Breadth first; begins and ends with `start`. */
function shortestWayBack(
  start: string,
  targets: ReadonlyMap<string, ReadonlySet<string>>,
): string[] | undefined {
  const reached = new Set<string>();
  let paths: string[][] = [[start]];
  while (paths.length > 0) {
    const longer: string[][] = [];
    for (const path of paths) {
      for (const to of targets.get(path.at(-1) ?? '') ?? []) {
        if (to === start) return [...path, start];
        if (reached.has(to)) continue;
        reached.add(to);
        longer.push([...path, to]);
      }
    }
    paths = longer;
  }
  return undefined;
}
