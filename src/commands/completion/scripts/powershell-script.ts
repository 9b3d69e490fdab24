/** For PowerShell 5.1 and later; nothing here has run it. */
export const powershellScript = String.raw`# PowerShell completion for leads (untested)
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
