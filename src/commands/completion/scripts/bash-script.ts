/** For bash 3.2 and later, with or without the package bash-completion. */
export const bashScript = String.raw`# bash completion for leads
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
