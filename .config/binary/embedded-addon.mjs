import { createRequire } from 'node:module';
import { root } from '../library.mjs';

/**
 * The path of libsql's add-on for this platform, and a plugin by which libsql loads it with our own loader. libsql asks
 * @neon-rs/load for its add-on only while it is developed: the bundle takes that way.
 */
export function embeddedAddon() {
  const ofLibsql = createRequire(createRequire(import.meta.url).resolve('libsql'));
  const { currentTarget } = ofLibsql('@neon-rs/load');
  return {
    addon: ofLibsql.resolve(`@libsql/${currentTarget()}`),
    plugin: {
      name: 'embedded-addon',
      resolveId: (id) => (id === '@neon-rs/load' ? `${root}src/files/embedded/addon.ts` : null),
    },
  };
}
