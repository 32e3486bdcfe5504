using System.CommandLine.Parsing;
using System.Globalization;

namespace Corfu.Cli;

/// <summary>The time that a command has for its work with a cluster (<c>--timeout</c>). Commands that work for as long
/// as there is work are bounded until they are connected.</summary>
internal sealed class CommandDeadline : IDisposable
{
    private const string Name = "--timeout";
    private const double Default = 30;

    // A call that does not heed its cancellation is left behind.
    private static readonly TimeSpan Grace = TimeSpan.FromSeconds(2);

    private static readonly string[] s_connecting = ["--connect", "--source", "--join", "--survivor"];

    // Commands that connect by a folder, or by an argument.
    private static readonly string[] s_connectingElsewise = ["cluster status", "cert show"];

    // The same, without a limit of their own: a unit with a long log takes minutes until it serves.
    private static readonly string[] s_starting =
        ["cluster up", "cluster add-unit", "cluster add-spare", "cluster add-sequencer"];

    private static readonly string[] s_long =
    [
        "append", "backup", "check", "console", "dump", "etcd", "import", "promote", "reconfigure", "restore", "run",
        "salvage", "serve",
    ];

    private static readonly AsyncLocal<CommandDeadline?> s_current = new();

    private readonly CancellationTokenSource _over = new();
    private readonly bool _endsConnected;
    private readonly TimeSpan _limit;

    private CommandDeadline(TimeSpan limit, bool endsConnected)
    {
        (_limit, _endsConnected) = (limit, endsConnected);
        _over.CancelAfter(limit);
    }

    /// <summary>Gives every command that connects the option.</summary>
    public static void AddTo(Command root)
    {
        foreach (var command in root.Subcommands) Add(command, command.Name, OptionOf(Default), OptionOf(0));
    }

    /// <summary>Begins the time of a command; null for a command without a limit.</summary>
    public static CommandDeadline? Begin(ParseResult parsed)
    {
        var own = parsed.CommandResult.Command.Options.FirstOrDefault(static option => option.Name == Name);
        if (own is not Option<double> option) return null;
        var seconds = parsed.GetValue(option);
        if (seconds <= 0) return null;
        var isLong = false;
        for (SymbolResult? symbol = parsed.CommandResult; symbol is CommandResult command; symbol = symbol.Parent)
            isLong |= s_long.Contains(command.Command.Name);
        isLong |= parsed.CommandResult.Command.Options.Any(
            watch => watch.Name == "--watch" && parsed.GetResult(watch) is { Implicit: false });
        return s_current.Value = new CommandDeadline(TimeSpan.FromSeconds(seconds), isLong);
    }

    /// <summary>The command has its connection.</summary>
    public static void Connected()
    {
        if (s_current.Value is { _endsConnected: true } deadline) deadline._over.CancelAfter(Timeout.Infinite);
    }

    /// <summary>Runs the command.</summary>
    /// <returns>The exit code, or null if the time is over.</returns>
    public async Task<int?> RunAsync(Func<CancellationToken, Task<int>> command)
    {
        var running = command(_over.Token);
        var over = new TaskCompletionSource();
        await using var registration = _over.Token.UnsafeRegister(
            static source => ((TaskCompletionSource)source!).TrySetResult(), over);
        if (await Task.WhenAny(running, over.Task) != running)
            await Task.WhenAny(running, Task.Delay(Grace));
        if (!running.IsCompleted || (_over.IsCancellationRequested && !running.IsCompletedSuccessfully))
        {
            _ = running.ContinueWith(static late => late.Exception, CancellationToken.None,
                TaskContinuationOptions.None, TaskScheduler.Default);
            return null;
        }

        return await running;
    }

    public string Message => string.Create(CultureInfo.InvariantCulture,
        $"No answer within {_limit.TotalSeconds:0.###} s. Do the nodes run, and is the network between open? "
        + $"'corfu doctor' looks; a longer time: --timeout SECONDS.");

    public void Dispose()
    {
        s_current.Value = null;
        _over.Dispose();
    }

    private static Option<double> OptionOf(double seconds)
    {
        var option = new Option<double>(Name)
        {
            Description = "Seconds until the command gives up with exit code 4; long work is bounded until it is "
                + "connected. 0: no limit.",
            HelpName = "SECONDS",
            DefaultValueFactory = _ => seconds,
        };
        option.Validators.Add(result =>
        {
            if (result.GetValueOrDefault<double>() is not (>= 0 and <= 86_400))
                result.AddError($"{Name} must be between 0 and 86400 seconds.");
        });
        return option;
    }

    private static void Add(Command command, string path, Option<double> limited, Option<double> unlimited)
    {
        if (s_starting.Contains(path)) command.Options.Add(unlimited);
        else if (s_connectingElsewise.Contains(path) || command.Options.Any(own => s_connecting.Contains(own.Name)))
            command.Options.Add(limited);
        foreach (var sub in command.Subcommands) Add(sub, $"{path} {sub.Name}", limited, unlimited);
    }
}
