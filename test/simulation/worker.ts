import { rmSync } from 'node:fs';
import type { Script } from 'node:vm';
import { programOf } from './kernel/process.ts';
import type { Plan } from './world/plan.ts';
import type { Failure, WorldResult } from './world/result.ts';
import { runWorld } from './world/run-world.ts';

/** One world that a child runs. */
export interface Task {
  readonly plan: Plan;
  /** The file of the product's bundle. */
  readonly program: string;
  /** In memory; removed when the world ends. */
  readonly folder: string;
  readonly wantsTrace: boolean;
}

/** Of a child: runs one world after another, as its parent asks, until the parent lets go of it. */
export function work(): void {
  const programs = new Map<string, Script>();
  let running: Plan | undefined;
  const answer = (result: WorldResult): void => {
    running = undefined;
    process.send?.(result);
  };
  process.on('message', (task: Task) => {
    running = task.plan;
    const program = programs.get(task.program) ?? programOf(task.program);
    programs.set(task.program, program);
    void runWorld(task.plan, { program, folder: task.folder })
      .catch((error: unknown) => resultOfFailure(task.plan, thrown(error)))
      .then((result) => {
        rmSync(task.folder, { recursive: true, force: true });
        answer(task.wantsTrace ? result : { ...result, trace: [] });
      });
  });
  // What nobody awaits is an error of the world that runs; the parent starts another child for the next one.
  process.on('uncaughtException', (error) => {
    if (running !== undefined) answer(resultOfFailure(running, thrown(error)));
  });
  process.on('disconnect', () => process.exit());
}

const thrown = (error: unknown): Failure => ({
  invariant: 'nothing-throws',
  detail: error instanceof Error ? (error.stack ?? error.message) : String(error),
  at: 0,
});

/** The result of a world that gave none. */
export const resultOfFailure = ({ seed }: Plan, failure: Failure): WorldResult => ({
  seed,
  failure,
  trace: [],
  digest: '',
});
