namespace Corfu.Checkers;

/// <summary>
/// Requests of a run's clients and the answers, in plain numbers: checkers share no code with the product. Start and
/// End are event numbers of the run, so that "ended before started" is exact. An operation without an answer ends at
/// <see cref="Never"/>.
/// </summary>
public sealed class LogHistory
{
    public const long Never = long.MaxValue;

    /// <summary>Shows a payload in findings.</summary>
    public Func<long, string> Name { get; init; } = static payload => $"{payload}";

    public List<AppendOp> Appends { get; } = [];

    public List<ReadOp> Reads { get; } = [];

    public List<TailOp> Tails { get; } = [];

    public List<TrimOp> Trims { get; } = [];

    public List<StreamReadOp> StreamReads { get; } = [];

    /// <summary>Every position of the log after the run was healed, from zero.</summary>
    public List<FinalEntry> Final { get; } = [];

    internal string Show(AppendOp append) =>
        $"append {Name(append.Payload)} of client {append.Client} [{append.Start},{ShowEnd(append.End, "-")}] "
        + $"{append.Outcome} at {append.Position}";

    internal string Show(ReadOp read) =>
        $"{read.Kind} {(read.Kind == SeenKind.Data ? Name(read.Payload) : "")} "
        + $"(client {read.Client}, [{read.Start},{ShowEnd(read.End, "end")}])";

    private static string ShowEnd(long end, string never) => end == Never ? never : $"{end}";
}

public enum AppendFate
{
    /// <summary>No answer, or the answer "unknown": it may or may not be in the log.</summary>
    Unknown,
    Acknowledged,

    /// <summary>The client was told that it is not in the log and never will be.</summary>
    Refused,
}

/// <param name="Payload">A number that only this append carries.</param>
public sealed record AppendOp(
    int Client, long Payload, ulong[] Streams, long Start, long End, AppendFate Outcome, long Position);

public enum SeenKind
{
    Unwritten,
    Data,
    Junk,
    Trimmed,
}

public sealed record ReadOp(int Client, long Position, long Start, long End, SeenKind Kind, long Payload);

public sealed record TailOp(int Client, long Start, long End, long Tail);

/// <summary>A trim of one position, or of everything below <paramref name="Position"/>, that was asked for.</summary>
public sealed record TrimOp(int Client, long Position, bool Prefix, long Start, long End);

/// <summary>Entries of a stream that a reader saw, from the beginning up to a sync requested at
/// <paramref name="Start"/>.</summary>
public sealed record StreamReadOp(int Client, ulong Stream, long Start, long End,
    IReadOnlyList<(long Position, long Payload)> Seen)
{
    /// <summary>The sync told the reader of every entry below; 0: not known.</summary>
    public long Until { get; init; }
}

public sealed record FinalEntry(long Position, SeenKind Kind, long Payload, ulong[] Streams,
    IReadOnlyList<(ulong Stream, long[] Back)> Headers);
