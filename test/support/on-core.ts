import { execFileSync } from 'node:child_process';
import { availableParallelism } from 'node:os';

/** Whether server and load have a core each: where there are two, and `taskset` is installed. */
const isPinned = availableParallelism() > 1 && canPin();

/** A command that runs on one core alone, or as it is where that cannot be. */
export const onCore = (core: number, command: readonly string[]): string[] =>
  isPinned ? ['taskset', '-c', String(core), ...command] : [...command];

function canPin(): boolean {
  try {
    execFileSync('taskset', ['-c', '0', 'true']);
    return true;
  } catch {
    return false;
  }
}
