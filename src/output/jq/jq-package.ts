import { createRequire } from 'node:module';
import type * as Vm from 'node:vm';
import { assetBytes, assetText } from '../../files/embedded/asset.ts';

interface JqPackage {
  /** A function as source text that, in the worker, loads builtins, and jq-web by `workerData`. */
  readonly load: string;
  readonly workerData: unknown;
}

interface JqAssets {
  readonly source: string;
  readonly wasm: Uint8Array;
}

/** jq-web as npm installed it, or as the executable file contains it. */
export function jqPackage(): JqPackage {
  if (!LEADS_SINGLE_FILE) {
    return { load: 'require', workerData: createRequire(import.meta.url).resolve('jq-web') };
  }
  const workerData: JqAssets = { source: assetText('jq.js'), wasm: assetBytes('jq.wasm') };
  return { load: `(${loadFromAssets.toString()})(require)`, workerData };
}

/** Runs in the worker, so it uses nothing from outside of itself. jq-web reads a file once: its WebAssembly. */
function loadFromAssets(require: (id: string) => unknown): (id: string | JqAssets) => unknown {
  return (id) => {
    if (typeof id === 'string') return require(id);
    const fs = { ...(require('node:fs') as object), readFileSync: () => id.wasm };
    const { compileFunction } = require('node:vm') as typeof Vm;
    const module = { exports: {} };
    const run = compileFunction(id.source, ['module', 'exports', 'require', '__dirname']) as (
      ...values: readonly unknown[]
    ) => void;
    run(module, module.exports, (name: string) => (name === 'fs' ? fs : require(name)), '');
    return module.exports;
  };
}
