import { spawnSync } from 'node:child_process';
import { chownSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname } from 'node:path';

/** Who runs the server: `initdb` refuses root. Empty for anybody else, who runs it as themselves. */
export const serverUser: { readonly uid?: number; readonly gid?: number } =
  process.getuid?.() === 0 ? { uid: idOf('-u'), gid: idOf('-g') } : {};

/** Makes that user the owner. */
export function giveAway(path: string): void {
  const { uid, gid } = serverUser;
  if (uid !== undefined && gid !== undefined) chownSync(path, uid, gid);
}

/** A directory for temporary files which that user may enter: the one of the tests is only for who started them. */
export function sharedTmpdir(): string {
  const found = [tmpdir(), dirname(tmpdir()), '/tmp', '/var/tmp'].find(
    (path) => spawnSync('test', ['-w', path, '-a', '-x', path], { ...serverUser, cwd: '/' }).status === 0,
  );
  if (found === undefined) throw new Error('no temporary directory that the user of the database may write');
  return found;
}

function idOf(flag: string): number {
  const { stdout } = spawnSync('id', [flag, 'nobody'], { encoding: 'utf8' });
  const id = Number.parseInt(stdout, 10);
  if (!Number.isInteger(id)) throw new Error('PostgreSQL does not run as root, and there is no user nobody');
  return id;
}
