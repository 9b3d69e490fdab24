import { statSync } from 'node:fs';

/** What the files of an inbox take, in words; of one in a database, only where it is. */
export function inboxSize(path: string): string {
  if (/^postgres:\/\//.test(path)) return `the inbox is ${path}`;
  const bytes = [path, `${path}-wal`]
    .map((file) => statSync(file, { throwIfNoEntry: false })?.size ?? 0)
    .reduce((sum, size) => sum + size, 0);
  return `the inbox ${path} takes ${bytes < 1e6 ? `${Math.ceil(bytes / 1e3)} kB` : `${(bytes / 1e6).toFixed(1)} MB`}`;
}
