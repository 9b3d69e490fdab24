import { createRequire } from 'node:module';
import { root } from '../library.mjs';

/**
 * Returns the path of libsql's native add-on for this platform, and a plugin with which the executable file loads it. libsql
 * has two ways to load its add-on, and with LIBSQL_JS_DEV, which the bundle sets, it calls @neon-rs/load. The plugin replaces
 * that module by a loader that takes the add-on out of the executable file.
 */
export function embeddedAddon() {
  const requireFromLibsql = createRequire(createRequire(import.meta.url).resolve('libsql'));
  const { currentTarget } = requireFromLibsql('@neon-rs/load');
  return {
    addon: requireFromLibsql.resolve(`@libsql/${currentTarget()}`),
    plugin: {
      name: 'embedded-addon',
      resolveId: (id) => (id === '@neon-rs/load' ? `${root}src/files/embedded/addon.ts` : null),
    },
  };
}
