using System.CommandLine.Parsing;

namespace Corfu.Cli;

/// <summary>The command tree, and the one place where an exception becomes a message and an exit code.</summary>
internal static class CommandLine
{
    private const string Description =
        """
        Corfu: run nodes and local clusters, inspect and administer the shared log.

        Exit codes: 0 done, 1 failed (the reason is on standard error), 2 wrong options or arguments, 3 the position
        holds no data, 4 no answer in time (--timeout), 130 interrupted.
        """;

    // The parser says this too when a command is misspelled, which its other message says better.
    private const string MissingCommand = "Required command was not provided.";

    public static async Task<int> RunAsync(string[] args, TextWriter output, TextWriter error)
    {
        var root = CreateRoot();
        CommandDeadline.AddTo(root);
        var parsed = root.Parse(args);
        if (parsed.Errors.Count > 0) return await RefuseAsync(root, parsed, error);
        // Commands end by their own cancellation; a node may take as long as its disk does.
        var configuration = new InvocationConfiguration
        {
            Output = output,
            Error = error,
            EnableDefaultExceptionHandler = false,
            ProcessTerminationTimeout = TimeSpan.FromSeconds(30),
        };
        using var deadline = CommandDeadline.Begin(parsed);
        try
        {
            if (deadline is null) return await parsed.InvokeAsync(configuration);
            if (await deadline.RunAsync(token => parsed.InvokeAsync(configuration, token)) is { } code) return code;
            await error.WriteLineAsync(deadline.Message);
            return ExitCode.TimedOut;
        }
        catch (OperationCanceledException)
        {
            return ExitCode.Interrupted;
        }
        catch (UsageException e)
        {
            await error.WriteLineAsync(e.Message);
            return ExitCode.Usage;
        }
        catch (Agent.OperatorFaultException e)
        {
            await error.WriteLineAsync(e.Message);
            return ExitCode.Usage;
        }
        catch (Client.ClusterNotFoundException e)
        {
            await error.WriteLineAsync(e.Message);
            await error.WriteLineAsync(
                "Does the cluster run? 'corfu cluster up --dir DIR' starts one on this machine and prints its "
                + "connection string.");
            return ExitCode.Failed;
        }
        catch (ArgumentOutOfRangeException e)
        {
            // A position that was never granted; the client's message is for programmers from the second part on.
            await error.WriteLineAsync(e.Message.Split(" (Parameter", 2)[0]);
            return ExitCode.Failed;
        }
        catch (Exception e)
            when (e is CorfuException or Tango.TangoException or IOException or UnauthorizedAccessException)
        {
            await error.WriteLineAsync(e.Message);
            return ExitCode.Failed;
        }
    }

    private static RootCommand CreateRoot() => new(Description)
    {
        ClusterCommand.Create(),
        NodeCommand.Create(),
        LogCommand.Create(),
        StatusCommand.Create(),
        ConsoleCommand.Create(),
        HistoryCommand.Create(),
        DoctorCommand.Create(),
        AuditCommand.Create(),
        CompletionCommand.Create(),
        ReconfigureCommand.Create(),
        BackupCommand.Create(),
        RestoreCommand.Create(),
        MirrorCommand.Create(),
        ObjectCommand.Create(),
        StreamCommand.Create(),
        TangoCommand.Create(),
        UnitCommand.Create(),
        CraqCommand.Create(),
        SalusCommand.Create(),
        VolumeCommand.Create(),
        ZooKeeperCommand.Create(),
        EtcdCommand.Create(),
        CertCommand.Create(),
    };

    private static async Task<int> RefuseAsync(RootCommand root, ParseResult parsed, TextWriter error)
    {
        var words = new List<string>();
        for (SymbolResult? symbol = parsed.CommandResult; symbol is CommandResult { Command: not RootCommand } command;
            symbol = symbol.Parent)
            words.Insert(0, command.Command.Name);
        // A group alone is a question: which commands are there?
        if (parsed.UnmatchedTokens.Count == 0 && parsed.CommandResult.Command.Subcommands.Count > 0)
        {
            await root.Parse([.. words, "--help"])
                .InvokeAsync(new InvocationConfiguration { Output = error, Error = error });
            return ExitCode.Usage;
        }

        foreach (var fault in parsed.Errors.Select(fault => fault.Message).Distinct()
            .Where(fault => fault != MissingCommand)) await error.WriteLineAsync(fault);
        await error.WriteLineAsync($"See '{string.Join(' ', words.Prepend("corfu"))} --help'.");
        return ExitCode.Usage;
    }
}
