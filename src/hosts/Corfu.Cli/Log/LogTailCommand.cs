using System.Text.Json;

namespace Corfu.Cli;

/// <summary><c>corfu log tail</c>.</summary>
internal static class LogTailCommand
{
    private const string Description =
        """
        Print the log's tail: the lowest position not granted; every acknowledged entry lies below it. With --stream
        also the newest positions of those streams, in the same moment.
        """;

    public static Command Create()
    {
        var streams =
            CommonOptions.StreamsOption("A stream whose newest positions are wanted too; may be given several times.");
        var json = CommonOptions.JsonOption();
        return Commands.WithClient("tail", Description, [streams, json], async (client, result, cancellationToken) =>
        {
            var ids = result.GetValue(streams)!.ToImmutableArray();
            var check = await client.CheckAsync(ids, ReadConsistency.Linearizable, cancellationToken);
            await WriteAsync(result.InvocationConfiguration.Output, check, result.GetValue(json));
            return ExitCode.Ok;
        });
    }

    private static async Task WriteAsync(TextWriter output, LogCheck check, bool json)
    {
        if (json)
        {
            await output.WriteLineAsync(JsonSerializer.Serialize(TailJson.Of(check), CliJson.Lines.TailJson));
            return;
        }

        await output.WriteLineAsync(check.Tail.ToString());
        foreach (var stream in check.Streams)
            await output.WriteLineAsync(
                $"stream {stream.Stream}: "
                + $"{(stream.Positions.IsEmpty ? "empty" : string.Join(' ', stream.Positions.Select(p => p.Offset)))}");
    }
}
