import { spawnSync } from 'node:child_process';
import { userInfo } from 'node:os';

/** A number that is nobody's, and not root's. */
export const stranger = 12345;

/** Put in front of a command: it runs as the stranger, who may read all files, as those of this program wherever they are. */
export const asStranger = [
  ...['setpriv', `--reuid=${stranger}`, `--regid=${stranger}`, '--clear-groups'],
  ...['--inh-caps=+dac_read_search', '--ambient-caps=+dac_read_search'],
];

export const canBeStranger =
  userInfo().uid === 0 && spawnSync('setpriv', [...asStranger.slice(1), 'true']).status === 0;
