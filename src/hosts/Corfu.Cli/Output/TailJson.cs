namespace Corfu.Cli;

/// <summary>The log's tail as JSON.</summary>
internal sealed record TailJson(long Tail, long Epoch, IReadOnlyList<StreamTailJson>? Streams)
{
    public static TailJson Of(LogCheck check) => new(
        check.Tail.Offset,
        check.Tail.Epoch.Value,
        check.Streams.IsDefaultOrEmpty
            ? null
            : [.. check.Streams.Select(
                s => new StreamTailJson(s.Stream.Value, [.. s.Positions.Select(p => p.Offset)]))]);
}

internal sealed record StreamTailJson(ulong Id, IReadOnlyList<long> Positions);
