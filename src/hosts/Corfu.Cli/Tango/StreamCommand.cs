using System.Text.Json;
using Tango;

namespace Corfu.Cli;

/// <summary><c>corfu stream</c>: what is kept of raw streams when the log is trimmed under objects.</summary>
internal static class StreamCommand
{
    private const string Description =
        """
        Raw streams, and what is kept of them. 'log trim --unneeded' stops at the first raw entry whose stream was not
        declared, once, by 'retain' or 'release'.
        """;

    private const string RetainDescription =
        "Keep the entries of raw streams, from --from on (or from what is not released yet).";

    public static Command Create() => new("stream", Description)
    {
        List(),
        Declaration("retain", RetainDescription, retains: true),
        Declaration("release", "Let the entries of raw streams go when the log is trimmed.", retains: false),
    };

    private static Command List()
    {
        var json = CommonOptions.JsonOption();
        const string About = "List the raw streams that have entries or were declared, and what is kept of them.";
        return TangoCommand.WithRuntime("list", About, [json], async (client, runtime, result, cancellationToken) =>
        {
            var streams = await ReadAsync(client, runtime, cancellationToken);
            var output = result.InvocationConfiguration.Output;
            if (result.GetValue(json))
            {
                foreach (var stream in streams)
                    await output.WriteLineAsync(JsonSerializer.Serialize(stream, CliJson.Lines.RawStreamJson));
                return ExitCode.Ok;
            }

            await TextTable.WriteAsync(output, ["STREAM", "ID", "KEPT"], streams.Select(stream => new[]
            {
                stream.Name ?? "-", $"{stream.Id}",
                !stream.Declared ? "undeclared" : stream.RetainFrom is { } from ? $"from {from}" : "released",
            }));
            return ExitCode.Ok;
        });
    }

    private static Command Declaration(string name, string description, bool retains)
    {
        var streams = CommonOptions.StreamsOption("The stream; may be given several times.");
        var none = new Option<bool>("--no-stream") { Description = "The raw entries that are in no stream." };
        var from = CommonOptions.PositionOption("--from", "The first position to keep.");
        Symbol[] parts = retains ? [streams, none, from] : [streams, none];
        var command = TangoCommand.WithRuntime(name, description, parts,
            async (_, runtime, result, cancellationToken) =>
            {
                LogPosition? start = retains
                    ? result.GetValue(from) ?? (await runtime.Log.ReadTrimPointAsync(cancellationToken)).Released
                    : null;
                foreach (var text in result.GetResult(streams)?.Tokens.Select(token => token.Value).Distinct() ?? [])
                {
                    // Digits are an id, as where the option was read.
                    var isId = ulong.TryParse(text, out var id);
                    await runtime.Log.DeclareStreamAsync(
                        isId ? new StreamId(id) : StreamId.FromName(text), isId ? null : text, start,
                        cancellationToken);
                }

                if (result.GetValue(none))
                    await runtime.Log.DeclareStreamAsync(RuntimeLog.NoStream, null, start, cancellationToken);
                return ExitCode.Ok;
            });
        command.Validators.Add(result =>
        {
            if (result.GetResult(streams) is not { Tokens.Count: > 0 } && !result.GetValue(none))
                result.AddError("Name a stream with --stream, or give --no-stream.");
        });
        return command;
    }

    /// <summary>Reads the raw streams. The units list the streams of their entries; an entry in no stream is in no
    /// list.</summary>
    public static async Task<ImmutableArray<RawStreamJson>> ReadAsync(
        CorfuClient client, TangoRuntime runtime, CancellationToken cancellationToken)
    {
        var declared = (await runtime.Log.ReadTrimPointAsync(cancellationToken)).Streams;
        var tail = (await client.CheckAsync([], ReadConsistency.Linearizable, cancellationToken)).Tail;
        var found = await client.Cluster.ListTrimmedStreamsAsync(tail, cancellationToken);
        var known = declared.Select(stream => stream.Stream.Value).ToHashSet();
        return
        [
            .. declared.Select(stream => new RawStreamJson(
                stream.Stream.Value, stream.Name, true, stream.RetainFrom?.Offset)),
            .. from stream in found
               where stream.Stream.Value >= StreamId.FirstRawValue && !known.Contains(stream.Stream.Value)
               select new RawStreamJson(stream.Stream.Value, null, false, null),
        ];
    }
}

/// <summary>A raw stream, as JSON.</summary>
/// <param name="Name">If it was declared by name.</param>
/// <param name="RetainFrom">Null, when declared: its entries need not be kept.</param>
internal sealed record RawStreamJson(ulong Id, string? Name, bool Declared, long? RetainFrom);
