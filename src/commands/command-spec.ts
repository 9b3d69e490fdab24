import type { Command } from 'commander';
import * as z from 'zod/mini';
import type { Context } from '../context.ts';
import { UsageError } from '../errors.ts';

/** How a run ended: `problems` means that it worked and what it looked at is not in order (exit 7). */
export type Outcome = 'done' | 'problems';

/** What a command's `run.ts` exports. */
export interface CommandModule<S extends z.ZodMiniType> {
  readonly options: S;
  run(options: z.output<S>, context: Context): Promise<Outcome>;
}

/** What a command's `command.ts` exports: everything its help needs and nothing else. */
export interface CommandSpec {
  readonly name: string;
  readonly summary: string;
  /** More than the summary, for the command's own help. */
  readonly description?: string;
  /** Forms of data, the default first; adds `--format` and `--json`, and `format` to the options. */
  readonly formats?: readonly [string, ...string[]];
  /** Command lines that run as printed. */
  readonly examples?: readonly string[];
  /** Arguments and flags. */
  readonly flags?: (command: Command) => unknown;
  readonly subcommands?: readonly CommandSpec[];
  /** Loads the code, checks the flags against its schema, runs it. */
  readonly run?: (flags: Readonly<Record<string, unknown>>, context: Context) => Promise<Outcome>;
}

/** Ties a lazily loaded `run.ts` to its flags: `run: lazily(() => import('./run.ts'))`. */
export function lazily<S extends z.ZodMiniType>(
  load: () => Promise<CommandModule<S>>,
): NonNullable<CommandSpec['run']> {
  return async (flags, context) => {
    const module = await load();
    const parsed = z.safeParse(module.options, flags);
    if (!parsed.success) throw usageError(parsed.error.issues);
    return module.run(parsed.data, context);
  };
}

function usageError(issues: readonly z.core.$ZodIssue[]): UsageError {
  const issue = issues[0];
  const key = String(issue?.path[0] ?? '');
  const flag = `--${key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
  return new UsageError(key === '' ? (issue?.message ?? 'wrong flags') : `${flag}: ${issue?.message ?? ''}`);
}
