using System.Collections.Immutable;
using MessagePack;

namespace Corfu.Load;

/// <summary>A log whose client never gets a decision record out: as if it died before. For entries of one
/// record.</summary>
internal sealed class MutedLog(ICorfuLog inner) : ICorfuLog
{
    // docs/formats/tango.md: [2, runtime, sequence, [record, ...]]; a record begins with its kind.
    private const int BeforeRecords = 3;
    private const int Decision = 3;

    public int MaxPayload => inner.MaxPayload;

    public ValueTask<AppendResult> AppendAsync(ReadOnlyMemory<byte> payload, ImmutableArray<StreamId> streams,
        CancellationToken cancellationToken = default) => inner.AppendAsync(payload, streams, cancellationToken);

    public async ValueTask<AppendResult> AppendToObjectsAsync(ReadOnlyMemory<byte> payload,
        ImmutableArray<StreamId> streams, CancellationToken cancellationToken = default)
    {
        if (IsDecision(payload)) await Task.Delay(Timeout.Infinite, cancellationToken);
        return await inner.AppendToObjectsAsync(payload, streams, cancellationToken);
    }

    public ValueTask<AppendOutcome> ResolveAsync(AppendResult unknown, CancellationToken cancellationToken = default) =>
        inner.ResolveAsync(unknown, cancellationToken);

    public ValueTask<ImmutableArray<LogReadResult>> ReadManyAsync(ImmutableArray<LogPosition> positions,
        ReadDetail detail = ReadDetail.Full, ReadMode mode = ReadMode.CloseHoles,
        CancellationToken cancellationToken = default) =>
        inner.ReadManyAsync(positions, detail, mode, cancellationToken);

    public ValueTask<LogCheck> CheckAsync(ImmutableArray<StreamId> streams,
        ReadConsistency consistency = ReadConsistency.Linearizable, CancellationToken cancellationToken = default) =>
        inner.CheckAsync(streams, consistency, cancellationToken);

    public ValueTask<LogReadResult> FillAsync(LogPosition position, CancellationToken cancellationToken = default) =>
        inner.FillAsync(position, cancellationToken);

    public ValueTask TrimAsync(LogPosition position, CancellationToken cancellationToken = default) =>
        inner.TrimAsync(position, cancellationToken);

    public ValueTask TrimPrefixAsync(LogPosition below, CancellationToken cancellationToken = default) =>
        inner.TrimPrefixAsync(below, cancellationToken);

    private static bool IsDecision(ReadOnlyMemory<byte> payload)
    {
        var reader = new MessagePackReader(payload);
        reader.ReadArrayHeader();
        for (var i = 0; i < BeforeRecords; i++) reader.Skip();
        reader.ReadArrayHeader();
        reader.ReadArrayHeader();
        return reader.ReadInt32() == Decision;
    }
}
