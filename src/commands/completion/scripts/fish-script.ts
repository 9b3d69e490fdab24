/** For fish 3 and later. */
export const fishScript = String.raw`# fish completion for leads
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
