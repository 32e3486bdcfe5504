namespace Corfu.Cli;

/// <summary><c>corfu completion</c>: scripts that let a shell ask the tool for completions.</summary>
internal static class CompletionCommand
{
    private const string Description =
        """
        Print a script that completes the tool's commands and options in a shell:
          bash: source <(corfu completion bash)            in ~/.bashrc
          zsh:  source <(corfu completion zsh)             in ~/.zshrc, after compinit
          fish: corfu completion fish | source             in ~/.config/fish/config.fish
          pwsh: corfu completion pwsh | Out-String | Invoke-Expression   in $PROFILE
        """;

    // The parser answers the directive [suggest:POSITION] with a line for each completion.
    private const string Bash =
        """
        _corfu_complete() {
            local IFS=$'\n' found
            found=$(corfu "[suggest:${COMP_POINT}]" "${COMP_LINE}" 2>/dev/null)
            COMPREPLY=($(compgen -W "${found}" -- "${COMP_WORDS[COMP_CWORD]}"))
        }
        complete -o default -F _corfu_complete corfu
        """;

    private const string Zsh =
        """
        _corfu() {
            local -a found
            found=("${(@f)$(corfu "[suggest:${CURSOR}]" "${BUFFER}" 2>/dev/null)}")
            compadd -a found
        }
        compdef _corfu corfu
        """;

    private const string Fish =
        """
        function __corfu_complete
            set -l line (commandline -cp)
            corfu "[suggest:"(string length -- "$line")"]" "$line" 2>/dev/null
        end
        complete -c corfu -f -a '(__corfu_complete)'
        """;

    private const string Pwsh =
        """
        Register-ArgumentCompleter -Native -CommandName corfu -ScriptBlock {
            param($word, $command, $position)
            corfu "[suggest:$position]" "$command" 2>$null | Where-Object { $_ -like "$word*" } | ForEach-Object {
                [System.Management.Automation.CompletionResult]::new($_, $_, 'ParameterValue', $_)
            }
        }
        """;

    public static Command Create()
    {
        var shell = new Argument<string>("shell") { Description = "bash, zsh, fish or pwsh." };
        shell.AcceptOnlyFromAmong("bash", "zsh", "fish", "pwsh");
        var command = new Command("completion", Description) { shell };
        command.SetAction(async (result, _) =>
        {
            await result.InvocationConfiguration.Output.WriteLineAsync(result.GetRequiredValue(shell) switch
            {
                "bash" => Bash,
                "zsh" => Zsh,
                "fish" => Fish,
                _ => Pwsh,
            });
            return ExitCode.Ok;
        });
        return command;
    }
}
