/** As a file `_leads` in a directory of `fpath`, or read by `source` behind `compinit`. */
export const zshScript = String.raw`#compdef leads
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
