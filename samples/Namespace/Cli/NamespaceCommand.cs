using System.CommandLine;
using System.CommandLine.Parsing;
using Corfu.Client;
using NamespaceSample.App;

namespace NamespaceSample.Cli;

/// <summary>The command line: what there is, and what is wrong with what was asked for.</summary>
public static class NamespaceCommand
{
    private const string Description =
        """
        A file-system namespace in two partitions: trees, attributes and renames in Tango objects over one shared log.
        Without a command: imports the directory it stands in, changes it by three clients at once, and checks itself.
        """;

    /// <summary>Parses and runs. Wrong arguments print all faults to <paramref name="errors"/> and give
    /// <see cref="ExitCodes.Usage"/>.</summary>
    public static async Task<int> InvokeAsync(string[] args, TextWriter errors)
    {
        ParseResult parse = Create().Parse(args);
        if (parse.Errors.Count > 0)
        {
            foreach (ParseError error in parse.Errors) await errors.WriteLineAsync($"error: {error.Message}");
            await errors.WriteLineAsync("Try --help.");
            return ExitCodes.Usage;
        }

        // Ctrl-C is each command's own business.
        return await parse.InvokeAsync(new InvocationConfiguration
        {
            ProcessTerminationTimeout = null,
            EnableDefaultExceptionHandler = false,
        });
    }

    /// <summary>An option that names a running cluster.</summary>
    internal static Option<string> ConnectOption(bool required)
    {
        var connect = new Option<string>("--connect")
        {
            Description = "A running cluster: corfu://host:port,... Without it an embedded one is started.",
            HelpName = "URL",
            Required = required,
        };
        connect.Validators.Add(result =>
        {
            if (result.GetValue(connect) is { } url && !ConnectionString.TryParse(url, out _, out string? fault))
                result.AddError($"--connect: {fault}");
        });
        return connect;
    }

    private static RootCommand Create()
    {
        var root = new RootCommand(Description)
        {
            ImportCommand.Create(),
            ReplayCommand.Create(),
            ShellCommand.Create(),
            ServeCommand.Create(),
            NodeMode.CreateCommand(),
            ChildCommands.Host(),
            ChildCommands.Replayer(),
            ChildCommands.Verifier(),
        };
        LoadCommand.AddTo(root);
        return root;
    }
}
