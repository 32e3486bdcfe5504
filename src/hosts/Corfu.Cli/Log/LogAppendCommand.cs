namespace Corfu.Cli;

/// <summary><c>corfu log append</c>.</summary>
internal static class LogAppendCommand
{
    private const string Description =
        """
        Append standard input as one entry, or with --lines every line of it as an entry. Prints the position of each
        entry, with --lines followed by a tab and the line, once it is durable on all replicas. With several in flight
        that is not the order of the input. Ctrl-C ends it at once, with exit code 130, and says how many entries are
        acknowledged.
        """;

    private const int MaxInFlight = 65_536;

    public static Command Create()
    {
        var streams = CommonOptions.StreamsOption("A stream that the entries belong to; may be given several times.");
        var lines = new Option<bool>("--lines") { Description = "Every line is an entry." };
        var inFlight = CommonOptions.NumberOption("--in-flight", "Appends at once, with --lines.", 1, MaxInFlight);
        Symbol[] parts = [streams, lines, inFlight];
        return Commands.WithClient("append", Description, parts, async (client, result, cancellationToken) =>
        {
            var ids = result.GetValue(streams)!.ToImmutableArray();
            StreamRangeException.ThrowIfNotRaw(ids);
            var output = result.InvocationConfiguration.Output;
            var error = result.InvocationConfiguration.Error;
            if (!result.GetValue(lines)) return await AppendOneAsync(client, ids, output, error, cancellationToken);
            var appender = new LineAppender(client, ids, result.GetValue(inFlight), output, error);
            return await appender.RunAsync(Console.In, cancellationToken);
        });
    }

    private static async Task<int> AppendOneAsync(CorfuClient client, ImmutableArray<StreamId> streams,
        TextWriter output, TextWriter error, CancellationToken cancellationToken)
    {
        ReadOnlyMemory<byte> payload;
        try
        {
            // A read of standard input cannot be cancelled: it is left behind, and ends with the process.
            payload = await Task.Run(() => ReadInput(client.MaxPayload), CancellationToken.None)
                .WaitAsync(cancellationToken);
        }
        catch (OperationCanceledException)
        {
            await error.WriteLineAsync("Interrupted. Nothing was appended.");
            return ExitCode.Interrupted;
        }

        var appended = await client.AppendAsync(payload, streams, cancellationToken);
        if (appended.Outcome == AppendOutcome.Unknown && cancellationToken.IsCancellationRequested)
        {
            await error.WriteLineAsync("Interrupted. The entry may be in the log or not ('corfu log dump' shows).");
            return ExitCode.Interrupted;
        }

        await output.WriteLineAsync(appended.Require().ToString());
        return ExitCode.Ok;
    }

    private static ReadOnlyMemory<byte> ReadInput(int limit)
    {
        using var input = Console.OpenStandardInput();
        var buffer = new MemoryStream();
        var chunk = new byte[64 << 10];
        while (input.Read(chunk) is var count and > 0)
        {
            buffer.Write(chunk, 0, count);
            if (buffer.Length > limit) throw new EntryTooLargeException($"Standard input has more than {limit} bytes");
        }

        return buffer.GetBuffer().AsMemory(0, (int)buffer.Length);
    }
}
