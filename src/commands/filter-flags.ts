import { type Command, Option } from 'commander';

/** The filter flags, the same on every command that pulls. Their schema is `filterShape` of `filter-options.ts`. */
export function addFilterFlags(command: Command): void {
  const collect = (value: string, before: string[] | undefined): string[] => [...(before ?? []), value];
  command
    .optionsGroup('Filters:')
    .option('--status <status>', 'as the service judges it, such as new')
    .addOption(new Option('--category <name>', 'any of these (repeatable)').argParser(collect))
    .option('--since <time>', 'created then or later: 2026-01-31, yesterday, 7d')
    .option('--until <time>', 'created before then')
    .addOption(
      new Option('--where <condition>', 'PATH=VALUE, PATH!=VALUE or PATH~VALUE (repeatable)').argParser(
        collect,
      ),
    )
    .optionsGroup('Options:');
}
