import { createHash } from 'node:crypto';

/** The part of the global that the product and undici use; no types of it come with node's. */
interface WebAssemblyApi {
  Module: new (bytes: Uint8Array) => object;
  Instance: new (module: object, imports?: object) => object;
}

const real = (globalThis as unknown as { WebAssembly: WebAssemblyApi }).WebAssembly;

const compiled = new Map<string, object>();

/** Compiled in this thread, once for all processes. */
function moduleOf(bytes: Uint8Array): object {
  const key = createHash('sha1').update(bytes).digest('hex');
  let module = compiled.get(key);
  if (module === undefined) compiled.set(key, (module = new real.Module(bytes)));
  return module;
}

/** What a process gets for the global `WebAssembly`. */
export const compiledOnce = Object.assign(Object.create(real as object) as object, {
  Module: function (bytes: Uint8Array) {
    return moduleOf(bytes);
  },
  compile: (bytes: Uint8Array) => Promise.resolve(moduleOf(bytes)),
  instantiate: (bytes: Uint8Array, imports?: object) => {
    const module = moduleOf(bytes);
    return Promise.resolve({ module, instance: new real.Instance(module, imports) });
  },
});
