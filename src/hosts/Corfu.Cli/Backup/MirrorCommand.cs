using Corfu.Backup;

namespace Corfu.Cli;

/// <summary><c>corfu mirror</c>: a log copied to another cluster for as long as the command runs.</summary>
internal static class MirrorCommand
{
    private const string RunDescription =
        """
        Copy a log to another cluster until interrupted, every entry at its position. The target must be empty the first
        time; it takes no appends before it is promoted and can be read meanwhile. May be stopped and started at any
        time, and waits for clusters out of reach.
        """;

    private const string PromoteDescription =
        """
        Make a mirror an ordinary log that takes appends. With --source it first gets all that its source holds now;
        stop the clients of the source before. Without it the mirror's own end counts, and entries that the copier left
        half-way are a reason to refuse.
        """;

    public static Command Create() =>
        new("mirror", "Keep a copy of a log in another cluster, and promote it.") { Run(), Status(), Promote() };

    private static Command Run() =>
        OfBoth("run", RunDescription, async (from, to, result, cancellationToken) =>
        {
            var error = result.InvocationConfiguration.Error;
            var lines = new ProgressLines(error, "mirrored");
            var mirror = new LogMirror(from, to, TimeProvider.System)
            {
                Progress = lines.Report,
                Trouble = t => error.WriteLine($"waiting: {t}")
            };
            await mirror.RunAsync(cancellationToken);
            return ExitCode.Ok;
        });

    private static Command Status() =>
        OfBoth("status", "Say how far a mirror is behind its source, in positions.", async (from, to, result,
            cancellationToken) =>
        {
            var output = result.InvocationConfiguration.Output;
            if (to.Projection.MirrorOf != from.Projection.Cluster)
            {
                await output.WriteLineAsync(
                    to.Projection.IsMirror
                        ? $"the target is a mirror of {to.Projection.MirrorOf}, not of {from.Projection.Cluster}"
                        : "the target is no mirror");
                return ExitCode.Failed;
            }

            var mirrored = (await to.CheckAsync([], cancellationToken: cancellationToken)).Tail;
            var tail = (await from.CheckAsync([], cancellationToken: cancellationToken)).Tail;
            await output.WriteLineAsync(
                $"source {tail.Offset}, mirror {mirrored.Offset}, behind by {Math.Max(0, tail - mirrored)}");
            return ExitCode.Ok;
        });

    private static Command Promote()
    {
        var source = ClusterOption("--source", "Its source, if that is at hand.", false);
        var accept = new Option<bool>("--accept-holes")
        { Description = "Positions that are missing in the midst of others are lost: make them junk." };
        Symbol[] parts = [source, accept];
        return Commands.WithClient("promote", PromoteDescription, parts, async (target, result, cancellationToken) =>
        {
            await using var from = result.GetValue(source) is { } text
                ? await Connections.ConnectAsync(text, cancellationToken)
                : null;
            var holes = await new MirrorPromotion(target, from, TimeProvider.System).RunAsync(result.GetValue(accept),
                cancellationToken);
            var tail = (await target.CheckAsync([], cancellationToken: cancellationToken)).Tail;
            await result.InvocationConfiguration.Output.WriteLineAsync($"promoted at {tail}");
            if (!holes.IsEmpty)
                await result.InvocationConfiguration.Error.WriteLineAsync(
                    $"lost, now junk: {string.Join(' ', holes.Select(h => h.Offset))}");
            return ExitCode.Ok;
        });
    }

    private static Command OfBoth(
        string name, string description, Func<CorfuClient, CorfuClient, ParseResult, CancellationToken, Task<int>> run)
    {
        var source = ClusterOption("--source", "The cluster that is copied.", true);
        var target = ClusterOption("--target", "The mirror.", true);
        var command = new Command(name, description) { source, target };
        command.SetAction(async (result, cancellationToken) =>
        {
            await using var from = await Connections.ConnectAsync(result.GetRequiredValue(source), cancellationToken);
            await using var to = await Connections.ConnectAsync(result.GetRequiredValue(target), cancellationToken);
            return await run(from, to, result, cancellationToken);
        });
        return command;
    }

    private static Option<string> ClusterOption(string name, string description, bool required) =>
        new(name) { Description = description, HelpName = "corfu://HOST:PORT,...", Required = required };
}
