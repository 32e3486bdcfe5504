using System.Collections.Immutable;
using Tango.Testing;

namespace Corfu.Grpc.Tests;

/// <summary>An ordinary log in memory, of which a test replaces a part.</summary>
internal abstract class WrappedLog : IDelegatedLog
{
    protected InMemoryCorfuLog Inner { get; } = new();

    public int MaxPayload => Inner.MaxPayload;

    public virtual ValueTask<AppendResult> AppendAsync(ReadOnlyMemory<byte> payload, ImmutableArray<StreamId> streams,
        CancellationToken cancellationToken) => Inner.AppendAsync(payload, streams, cancellationToken);

    public virtual ValueTask<AppendResult> AppendAsync(ReadOnlyMemory<byte> payload, ImmutableArray<StreamId> streams,
        AppendTerms terms, CancellationToken cancellationToken) =>
        Inner.AppendAsync(payload, streams, terms, cancellationToken);

    public ValueTask<AppendResult> AppendToObjectsAsync(ReadOnlyMemory<byte> payload, ImmutableArray<StreamId> streams,
        AppendTerms terms, CancellationToken cancellationToken) =>
        Inner.AppendToObjectsAsync(payload, streams, terms, cancellationToken);

    public ValueTask<ImmutableArray<AppendResult>> SettleAsync(ImmutableArray<EntryOrigin> origins, LogPosition from,
        LogPosition below, CancellationToken cancellationToken) =>
        Inner.SettleAsync(origins, from, below, cancellationToken);

    public ValueTask<AppendResult> AppendToObjectsAsync(ReadOnlyMemory<byte> payload, ImmutableArray<StreamId> streams,
        CancellationToken cancellationToken) => Inner.AppendToObjectsAsync(payload, streams, cancellationToken);

    public ValueTask<AppendOutcome> ResolveAsync(AppendResult unknown, CancellationToken cancellationToken) =>
        Inner.ResolveAsync(unknown, cancellationToken);

    public virtual ValueTask<ImmutableArray<LogReadResult>> ReadManyAsync(ImmutableArray<LogPosition> positions,
        ReadDetail detail, ReadMode mode, CancellationToken cancellationToken) =>
        Inner.ReadManyAsync(positions, detail, mode, cancellationToken);

    public virtual ValueTask<LogCheck> CheckAsync(ImmutableArray<StreamId> streams, ReadConsistency consistency,
        CancellationToken cancellationToken) => Inner.CheckAsync(streams, consistency, cancellationToken);

    public ValueTask<LogReadResult> FillAsync(LogPosition position, CancellationToken cancellationToken) =>
        Inner.FillAsync(position, cancellationToken);

    public ValueTask TrimAsync(LogPosition position, CancellationToken cancellationToken) =>
        Inner.TrimAsync(position, cancellationToken);

    public ValueTask TrimPrefixAsync(LogPosition below, CancellationToken cancellationToken) =>
        Inner.TrimPrefixAsync(below, cancellationToken);
}
