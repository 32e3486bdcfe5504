using System.Collections.Immutable;
using System.CommandLine;
using System.Globalization;
using Corfu.Client;
using Corfu.Protocol;

namespace Corfu.Cli;

/// <summary><c>corfu log append</c>.</summary>
internal static class LogAppendCommand
{
    private const string Description =
        """
        Append standard input as one entry, or with --lines every line of it as an entry. Prints the position of each entry, with --lines
        followed by a tab and the line, once it is durable on all replicas. With several in flight that is not the order of the input.
        """;

    private const int MaxInFlight = 65_536;

    public static Command Create()
    {
        var connect = LogCommand.ConnectOption();
        var streams = LogCommand.StreamsOption("A stream that the entries belong to; may be given several times.");
        var lines = new Option<bool>("--lines") { Description = "Every line is an entry." };
        var inFlight = new Option<int>("--in-flight") { Description = "Appends at once, with --lines.", HelpName = "N", DefaultValueFactory = _ => 1 };
        inFlight.Validators.Add(result =>
        {
            // What is no number the parser itself reports, after the validators.
            if (result.Tokens.Count == 1 && int.TryParse(result.Tokens[0].Value, CultureInfo.InvariantCulture, out var number) && number is (< 1 or > MaxInFlight)) result.AddError($"--in-flight must be between 1 and {MaxInFlight}.");
        });
        var command = new Command("append", Description) { connect, streams, lines, inFlight };
        command.SetAction(async (result, cancellationToken) =>
        {
            await using var session = await LogSession.OpenAsync(result.GetRequiredValue(connect), cancellationToken);
            var ids = result.GetValue(streams)!.Distinct().Select(id => new StreamId(id)).ToImmutableArray();
            var output = result.InvocationConfiguration.Output;
            if (result.GetValue(lines))
            {
                var appender = new LineAppender(session.Log, ids, result.GetValue(inFlight), output, result.InvocationConfiguration.Error);
                return await appender.RunAsync(Console.In, cancellationToken);
            }

            var payload = await ReadInputAsync(session.Log.MaxPayload, cancellationToken);
            var appended = await session.Log.AppendAsync(payload, ids, cancellationToken);
            await output.WriteLineAsync(appended.Require().ToString());
            return ExitCode.Ok;
        });
        return command;
    }

    private static async Task<ReadOnlyMemory<byte>> ReadInputAsync(int limit, CancellationToken cancellationToken)
    {
        await using var input = Console.OpenStandardInput();
        var buffer = new MemoryStream();
        var chunk = new byte[64 << 10];
        while (await input.ReadAsync(chunk, cancellationToken) is var count and > 0)
        {
            buffer.Write(chunk, 0, count);
            if (buffer.Length > limit) throw new EntryTooLargeException($"Standard input has more than {limit} bytes");
        }

        return buffer.GetBuffer().AsMemory(0, (int)buffer.Length);
    }
}
