using System.Text.Json;

namespace Corfu.Cli;

/// <summary><c>corfu log dump</c>.</summary>
internal static class LogDumpCommand
{
    private const string Description =
        """
        Print entries in log order: streams with their backpointers, kind, and the records of Tango decoded. The log is
        left as it is: holes are shown, not closed. With --json one object a line, the payload in base64; decoded
        records come along where there are any.
        """;

    private const int Batch = 256;

    public static Command Create()
    {
        var from = CommonOptions.PositionOption("--from", "First position (default: the first one there).");
        var to = CommonOptions.PositionOption("--to", "Position to stop before (default: the tail).");
        var stream = CommonOptions.StreamOption("Only entries of this stream.");
        var json = new Option<bool>("--json") { Description = "One JSON object a line." };
        Symbol[] parts = [from, to, stream, json];
        return Commands.WithClient("dump", Description, parts, async (client, result, cancellationToken) =>
        {
            var tail = (await client.CheckAsync([], ReadConsistency.Linearizable, cancellationToken)).Tail;
            var end = LogPosition.Min(result.GetValue(to) ?? tail, tail);
            var only = result.GetValue(stream);
            var output = result.InvocationConfiguration.Output;
            var start = LogPosition.Max(result.GetValue(from) ?? client.Projection.TrimMark,
                client.Projection.TrimMark);
            for (var at = start; at < end; at += Batch)
            {
                var count = (int)Math.Min(Batch, end - at);
                var pages = await client.ReadManyAsync([.. Enumerable.Range(0, count).Select(i => at + i)],
                    ReadDetail.Full, ReadMode.Observe, cancellationToken);
                foreach (var page in pages.Where(
                    page => only is not { } wanted || page.Entry?.TryGetStream(wanted, out _) == true))
                    await WriteAsync(output, page, result.GetValue(json));
            }

            return ExitCode.Ok;
        });
    }

    private static async Task WriteAsync(TextWriter output, LogReadResult page, bool json)
    {
        if (json) await output.WriteLineAsync(JsonSerializer.Serialize(EntryJson.Of(page), CliJson.Lines.EntryJson));
        else foreach (var line in EntryText.Lines(page)) await output.WriteLineAsync(line);
    }
}
