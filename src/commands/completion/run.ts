import type { Context, Outcome } from '../../context.ts';
import { write } from '../../output/stdout.ts';
import type { ListedCommand } from '../flags/command-spec.ts';
import { type CommandData, describeProgram, type ProgramData } from '../help/help-data.ts';

/**
 * All scripts work in the same way. They follow the typed words from place to place (`` is the program, `inbox` a command, `inbox
 * show` a command of it), and offer what may come next: the values of the flag before, the flags of the place, or its words.
 */

/** The values of a flag; the shell itself lists files. */
type Choices = readonly string[] | 'files';

interface Candidate {
  readonly name: string;
  readonly help: string;
}

interface CompletedFlag extends Candidate {
  readonly short: string | null;
  /** Undefined for a flag without a value, or one that needs none; empty where the value is free. */
  readonly values: Choices | undefined;
}

interface Place {
  readonly path: string;
  readonly words: readonly Candidate[];
  readonly takesFile?: boolean;
  readonly flags: readonly CompletedFlag[];
}

const isFile = (valueName: string): boolean => /\b(file|place)\b/.test(valueName);

const completedFlags = (flags: CommandData['flags']): CompletedFlag[] =>
  flags.map(({ name, short, help, value, choices, alone }) => {
    const needsValue = value !== null && alone === null;
    const values = needsValue && choices.length === 0 && isFile(value) ? 'files' : choices;
    return { name, short, help, values: needsValue ? values : undefined };
  });

function placesOf(program: ProgramData): Place[] {
  const globals = completedFlags(program.flags);
  const wordsOf = (commands: readonly CommandData[]): Candidate[] =>
    commands.map(({ name, summary }) => ({ name: name.slice(name.lastIndexOf(' ') + 1), help: summary }));
  const placesBelow = (command: CommandData): Place[] => {
    const { name: path, commands, flags, arguments: args } = command;
    const [first] = args;
    const choices = (first?.choices ?? []).map((name) => ({ name, help: '' }));
    const words = commands.length > 0 ? wordsOf(commands) : choices;
    const takesFile = first !== undefined && isFile(first.name);
    const place = { path, words, takesFile, flags: [...completedFlags(flags), ...globals] };
    return [place, ...commands.flatMap(placesBelow)];
  };
  const names = wordsOf(program.commands);
  const topics = program.topics.map(({ name }) => ({ name, help: 'help topic' }));
  return [
    { path: '', words: [...names, { name: 'help', help: 'of a command or topic' }], flags: globals },
    { path: 'help', words: [...names, ...topics], flags: [] },
    ...program.commands.map(({ name, commands }) => ({
      ...{ path: `help ${name}`, words: wordsOf(commands), flags: [] },
    })),
    ...program.commands.flatMap(placesBelow),
  ];
}

const namesOf = (candidates: readonly Candidate[]): string[] => candidates.map(({ name }) => name);

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** Every place but the first as a pattern of the place before, a space and the word that leads on: ` inbox`, `inbox show`. */
const steps = (places: readonly Place[], quote = quoted): string[] =>
  places.flatMap(({ path }) => (path === '' ? [] : [quote(path.includes(' ') ? path : ` ${path}`)]));

/** Branches of a shell's `case` by place, without the places for which there is nothing to do. */
const placeCases = (places: readonly Place[], actionFor: (place: Place) => string): string =>
  places
    .map((place) => ({ path: place.path, action: actionFor(place) }))
    .filter(({ action }) => action !== '')
    .map(({ path, action }) => `      (${quoted(path)}) ${action} ;;`)
    .join('\n');

/** Branches by place and flag, one for all flags with the same values. A flag that ends with `=` has its value in the same word. */
function valueCases(places: readonly Place[], actionFor: (values: Choices) => string): string {
  const patterns = new Map<string, string[]>();
  for (const { path, flags } of places) {
    for (const { name, short, values } of flags) {
      if (values === undefined) continue;
      const typed = [name, `${name}=`, ...(short === null ? [] : [short])].map((flag) =>
        quoted(`${path} ${flag}`),
      );
      const action = actionFor(values);
      patterns.set(action, [...(patterns.get(action) ?? []), ...typed]);
    }
  }
  return [...patterns].map(([action, typed]) => `    (${typed.join(' | ')}) ${action} ;;`).join('\n');
}

/** For bash 3.2 and later, which splits words at `=`. */
const bashScript = (places: readonly Place[]): string => String.raw`# bash completion for leads
_leads() {
  local current=$2 flag=$3 place= words= files= i
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "$place ${'$'}{COMP_WORDS[i]}" in
      (${steps(places).join(' | ')}) place="${'$'}{place:+$place }${'$'}{COMP_WORDS[i]}" ;;
    esac
  done
  if [ "${'$'}{COMP_WORDS[COMP_CWORD]}" = = ]; then
    current= flag=${'$'}{COMP_WORDS[COMP_CWORD - 1]}=
  elif [ "$flag" = = ]; then
    flag=${'$'}{COMP_WORDS[COMP_CWORD - 2]}=
  fi
  case "$place $flag" in
${valueCases(places, bashWords)}
    (*)
      case $current in
        (-*) case $place in
${placeCases(places, ({ flags }) => bashWords(namesOf(flags)))}
        esac ;;
        (*) case $place in
${placeCases(places, ({ words, takesFile }) => bashWords(takesFile === true ? 'files' : namesOf(words)))}
        esac ;;
      esac ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  [ -z "$files" ] || ! type compopt >/dev/null 2>&1 || compopt -o default
}
if type compopt >/dev/null 2>&1; then
  complete -F _leads leads
else
  complete -o default -F _leads leads
fi
`;

const bashWords = (values: Choices): string =>
  values === 'files' ? 'files=1' : `words=${quoted(values.join(' '))}`;

/** A file `_leads` in a directory of `fpath`, or read by `source` after `compinit`. */
const zshScript = (places: readonly Place[]): string => String.raw`#compdef leads
# zsh completion for leads
_leads() {
  local place flag=$words[CURRENT-1] word
  local -a candidates
  for word in "${'$'}{(@)words[2,CURRENT-1]}"; do
    case "$place $word" in
      (${steps(places).join(' | ')}) place=${'$'}{place:+$place }$word ;;
    esac
  done
  case $PREFIX in
    (--*=*) flag=${'$'}{PREFIX%%=*}=; compset -P '*=' ;;
  esac
  case "$place $flag" in
${valueCases(places, (values) => (values === 'files' ? '_files; return' : `compadd -- ${values.map(quoted).join(' ')}; return`))}
  esac
  case $PREFIX in
    (-*) case $place in
${placeCases(places, ({ flags }) => zshCandidates(flags))}
    esac ;;
    (*) case $place in
${placeCases(places, ({ words, takesFile }) => (takesFile === true ? '_files; return' : zshCandidates(words)))}
    esac ;;
  esac
  _describe leads candidates
}
if [[ $funcstack[1] == _leads ]]; then
  _leads "$@"
elif (( $+functions[compdef] )); then
  compdef _leads leads
fi
`;

/** A candidate is `'--limit:how many'`; a backslash keeps a colon of the help from separating more. */
const zshCandidates = (candidates: readonly Candidate[]): string => {
  const described = candidates.map(({ name, help }) => quoted(`${name}:${help.replaceAll(':', '\\:')}`));
  return described.length === 0 ? '' : `candidates=(${described.join(' ')})`;
};

/** For fish 3 and later. */
const fishScript = (places: readonly Place[]): string => `# fish completion for leads
function __leads_is_at
    set -l place
    for word in (commandline -opc)[2..-1]
        switch "$place $word"
            case ${steps(places, fishQuoted).join(' ')}
                set place (string trim -- "$place $word")
        end
    end
    test "$place" = "$argv[1]"
end
complete -c leads -e
complete -c leads -f
${places.flatMap(fishLines).join('\n')}
`;

const fishQuoted = (text: string): string => `'${text.replace(/[\\']/g, '\\$&')}'`;

function fishLines({ path, words, takesFile, flags }: Place): string[] {
  const line = (completion: string, help = ''): string =>
    `complete -c leads -n "__leads_is_at '${path}'" ${completion} -d ${fishQuoted(help)}`;
  const valueOf = (values: Choices): string =>
    values === 'files' ? '-r -F' : `-x -a ${fishQuoted(values.join(' '))}`;
  return [
    ...(takesFile === true ? [line('-F')] : []),
    ...words.map(({ name, help }) => line(`-a ${fishQuoted(name)}`, help)),
    ...flags.map(({ name, short, help, values }) => {
      const names = [`-l ${name.slice(2)}`, ...(short === null ? [] : [`-s ${short.slice(1)}`])];
      return line([...names, ...(values === undefined ? [] : [valueOf(values)])].join(' '), help);
    }),
  ];
}

/** For PowerShell 5.1 and later, which completes files where nothing else is offered; nothing here has run it. */
const powershellScript = (
  places: readonly Place[],
): string => String.raw`# PowerShell completion for leads (untested)
Register-ArgumentCompleter -Native -CommandName leads -ScriptBlock {
    param($word, $line, $cursor)
    $words = @{
${table(places.map(({ path, words }) => [path, namesOf(words).join(' ')]))}
    }
    $flags = @{
${table(places.map(({ path, flags }) => [path, namesOf(flags).join(' ')]))}
    }
    $values = @{
${table(places.flatMap(({ path, flags }) => flags.flatMap((flag) => powershellValues(path, flag))))}
    }
    $place, $flag, $prefix = '', '', ''
    $typed = $line.CommandElements | Select-Object -Skip 1 | Where-Object { $_.Extent.EndOffset -lt $cursor }
    foreach ($flag in $typed.Extent.Text) {
        if ($words.ContainsKey("$place $flag".Trim())) { $place = "$place $flag".Trim() }
    }
    if ($word -match '^(--[^=]+)=') { $flag, $prefix = $Matches[1], $Matches[0] }
    $candidates = if ($values.ContainsKey("$place $flag")) { $values["$place $flag"] }
        elseif ($word.StartsWith('-')) { $flags[$place] } else { $words[$place] }
    -split $candidates | Where-Object { "$prefix$_".StartsWith($word) } | ForEach-Object {
        [System.Management.Automation.CompletionResult]::new("$prefix$_", $_, 'ParameterValue', $_)
    }
}
`;

const table = (rows: readonly (readonly [key: string, words: string])[]): string =>
  rows.map(([key, words]) => `        '${key}' = '${words}'`).join('\n');

const powershellValues = (path: string, { name, values }: CompletedFlag): [string, string][] =>
  values === undefined ? [] : [[`${path} ${name}`, values === 'files' ? '' : values.join(' ')]];

const scripts = { bash: bashScript, zsh: zshScript, fish: fishScript, powershell: powershellScript };

export async function run(
  shell: keyof typeof scripts,
  commands: readonly ListedCommand[],
  { stdout }: Pick<Context, 'stdout'>,
): Promise<Outcome> {
  await write(stdout, scripts[shell](placesOf(await describeProgram(commands))));
  return 'done';
}
