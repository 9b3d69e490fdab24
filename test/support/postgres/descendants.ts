import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';

/** The processes that this one started, and theirs. */
export function descendants(pid: number): number[] {
  const parents = parentOfEach();
  const found = [pid];
  for (const parent of found) {
    for (const [child, of] of parents) if (of === parent) found.push(child);
  }
  return found.slice(1);
}

/** Whether a process has not ended: what it held is still in use. One that its parent has not asked about yet has. */
export function isRunning(pid: number): boolean {
  if (existsSync('/proc/self/stat')) return !'ZX'.includes(fieldsInProc(String(pid))[0] ?? 'Z');
  const { stdout } = spawnSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' });
  return stdout.trim() !== '' && !stdout.trim().startsWith('Z');
}

function parentOfEach(): [pid: number, parent: number][] {
  if (existsSync('/proc/self/stat')) {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map((name) => [Number(name), parentInProc(name)]);
  }
  const { stdout } = spawnSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' });
  return stdout.split('\n').map((line) => {
    const [pid = 0, parent = 0] = line.trim().split(/\s+/).map(Number);
    return [pid, parent];
  });
}

const parentInProc = (name: string): number => Number(fieldsInProc(name)[1] ?? 0);

/** Those after the name in parentheses, which may hold spaces: the state, the parent, and more; none: there is no such process. */
function fieldsInProc(name: string): readonly string[] {
  try {
    const stat = readFileSync(`/proc/${name}/stat`, 'latin1');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  } catch {
    return [];
  }
}
