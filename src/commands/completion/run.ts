import type { Context, Outcome } from '../../context.ts';
import { write } from '../../output/stdout.ts';

/** For bash 3.2 and later, with or without the package bash-completion. */
const bashScript = String.raw`# bash completion for leads
_leads_complete() {
  local current=$2 rest=$COMP_LINE tab=$'\t' i piece gap line first skip
  local -a words
  words=()
  # bash splits words at = and : too; what no space separates is one word of the command line.
  for ((i = 0; i < COMP_CWORD; i++)); do
    piece=${'$'}{COMP_WORDS[i]}
    gap=${'$'}{rest%%"$piece"*}
    rest=${'$'}{rest#"$gap$piece"}
    if [ -z "$gap" ] && [ ${'$'}{#words[@]} -gt 0 ]; then
      words[${'$'}{#words[@]}-1]+=$piece
    else
      words[${'$'}{#words[@]}]=$piece
    fi
  done
  skip=''
  piece=${'$'}{COMP_WORDS[COMP_CWORD]}
  case $piece in
    =* | :*)
      if [ -z "$current" ]; then
        skip=${'$'}{words[${'$'}{#words[@]}-1]}$piece
        unset "words[${'$'}{#words[@]}-1]"
      fi
      ;;
    *)
      if [ ${'$'}{#words[@]} -gt 1 ] && [ "${'$'}{rest:0:1}" != ' ' ] && [ "${'$'}{rest:0:1}" != "$tab" ]; then
        skip=${'$'}{words[${'$'}{#words[@]}-1]}
        unset "words[${'$'}{#words[@]}-1]"
      fi
      ;;
  esac
  COMPREPLY=()
  first=1
  while IFS= read -r line; do
    if [ -n "$first" ]; then
      first=''
      case $line in
        files) type compopt >/dev/null 2>&1 && compopt -o default ;;
        open) type compopt >/dev/null 2>&1 && compopt -o nospace ;;
      esac
    else
      line=${'$'}{line%%"$tab"*}
      COMPREPLY[${'$'}{#COMPREPLY[@]}]=${'$'}{line#"$skip"}
    fi
  done < <(command leads completion --complete ".$skip$current" "${'$'}{words[@]:1}" 2>/dev/null </dev/null)
}
if type compopt >/dev/null 2>&1; then
  complete -F _leads_complete leads
else
  complete -o default -F _leads_complete leads
fi
`;

/** For fish 3 and later. */
const fishScript = String.raw`# fish completion for leads
function __leads_complete
    set -l current (commandline -ct)
    set -l words (commandline -opc)
    set -e words[1]
    set -l lines (command leads completion --complete ".$current" $words 2>/dev/null </dev/null)
    if test "$lines[1]" = files
        __fish_complete_path "$current"
        return
    end
    set -e lines[1]
    if test (count $lines) -gt 0
        printf '%s\n' $lines
    end
end
complete -c leads -e
complete -c leads -k -f -a '(__leads_complete)'
`;

/** For PowerShell 5.1 and later; nothing here has run it. */
const powershellScript = String.raw`# PowerShell completion for leads (untested)
Register-ArgumentCompleter -Native -CommandName leads -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)
    $words = @($commandAst.CommandElements |
        Where-Object { $_.Extent.EndOffset -lt $cursorPosition } |
        Select-Object -Skip 1 |
        ForEach-Object { $_.Extent.Text })
    $program = Get-Command -CommandType Application -Name leads -ErrorAction SilentlyContinue | Select-Object -First 1
    if ($null -eq $program) { return }
    $lines = @(& $program completion --complete ".$wordToComplete" @words 2>$null)
    $lines | Select-Object -Skip 1 | ForEach-Object {
        $value, $help = $_ -split [char]9, 2
        if ([string]::IsNullOrEmpty($help)) { $help = $value }
        [System.Management.Automation.CompletionResult]::new($value, $value, 'ParameterValue', $help)
    }
}
`;

/** As a file `_leads` in a directory of `fpath`, or read by `source` behind `compinit`. */
const zshScript = String.raw`#compdef leads
# zsh completion for leads
_leads() {
  local tab=$'\t' line
  local -a lines values shown options
  lines=("${'$'}{(@f)$(command leads completion --complete ".${'$'}{(Q)PREFIX}" "${'$'}{(@Q)words[2,CURRENT-1]}" 2>/dev/null </dev/null)}")
  case $lines[1] in
    files) _files; return ;;
    open) options=(-S '') ;;
  esac
  for line in "${'$'}{(@)lines[2,-1]}"; do
    [[ -n $line ]] || continue
    values+=("${'$'}{line%%$tab*}")
    shown+=("${'$'}{(r:24:)line%%$tab*}  ${'$'}{line#*$tab}")
  done
  (( $#values )) || return 1
  compadd "${'$'}{options[@]}" -V leads -l -d shown -- "${'$'}{values[@]}"
}
if [[ $funcstack[1] == _leads ]]; then
  _leads "$@"
elif (( $+functions[compdef] )); then
  compdef _leads leads
fi
`;

const scripts = { bash: bashScript, zsh: zshScript, fish: fishScript, powershell: powershellScript };

export async function run(
  { shell }: { readonly shell: keyof typeof scripts },
  { stdout }: Context,
): Promise<Outcome> {
  await write(stdout, scripts[shell]);
  return 'done';
}
