using System.Buffers.Binary;
using System.IO.Hashing;
using Corfu.StateMachines.State;

namespace Corfu.StateMachines.Snapshots;

/// <summary>
/// A machine's snapshots in the log. Chunks have a stream of their own, so that the newest snapshots are found without
/// reading a chunk. Content: the length of the saved state in four bytes, the saved state, the machine.
/// </summary>
internal sealed class SnapshotStore(ICorfuLog log, string name, ReplicaOptions options)
{
    private const int ChunkBytes = 256 * 1024;

    // Snapshots that are looked at: two are kept, and writers that ran beside each other add some.
    private const int Kept = 8;

    // Chunks of one read.
    private const int ReadAtOnce = 8;

    private static readonly TimeSpan s_pause = TimeSpan.FromMilliseconds(20);
    private static readonly TimeSpan s_longestPause = TimeSpan.FromSeconds(1);

    /// <summary>Longest content of a snapshot: its loader has it in one array.</summary>
    public long MostBytes { get; init; } = Array.MaxLength;

    private readonly StreamId _snapshots = StreamId.FromName($"machine/{name}/snapshots");
    private readonly StreamId _chunks = StreamId.FromName($"machine/{name}/chunks");

    /// <summary>Writes a snapshot.</summary>
    /// <exception cref="CorfuException">The log has no complete snapshot of this call, or one that is not known
    /// here.</exception>
    /// <exception cref="MachineException">The content is too long to be loaded again.</exception>
    public async Task<SnapshotRecord> WriteAsync(CapturedState captured, CancellationToken cancellationToken)
    {
        var positions = ImmutableArray.CreateBuilder<LogPosition>();
        var check = new XxHash3();
        var length = 0L;
        var recordBytes = SnapshotCodec.RecordOverhead;
        var stream = new ChunkStream(
            Math.Min(ChunkBytes, log.MaxPayload - SnapshotCodec.ChunkOverhead), AppendChunkAsync);
        var head = new byte[sizeof(int)];
        BinaryPrimitives.WriteInt32LittleEndian(head, captured.Head.Length);
        await stream.WriteAsync(head, cancellationToken);
        await stream.WriteAsync(captured.Head, cancellationToken);
        await captured.Machine.SaveAsync(stream, cancellationToken);
        await stream.EndAsync(cancellationToken);
        var record = new SnapshotRecord(
            captured.Mark.End, captured.Mark.Digest, length, check.GetCurrentHashAsUInt64(), positions.ToImmutable());
        await AppendAsync(SnapshotCodec.Write(record), _snapshots, cancellationToken);
        return record;

        // Invariant: a snapshot that is in the log can be loaded. Else history goes below one that cannot (M5).
        async ValueTask AppendChunkAsync(ReadOnlyMemory<byte> bytes, CancellationToken token)
        {
            check.Append(bytes.Span);
            length += bytes.Length;
            if (length > MostBytes)
                throw new MachineException($"A snapshot is longer than the {MostBytes} bytes that can be loaded.");
            var chunk = SnapshotCodec.WriteChunk(positions.Count, bytes.Span);
            var position = await AppendAsync(chunk, _chunks, token);
            recordBytes += SnapshotCodec.LengthOf(position, positions.Count == 0 ? LogPosition.Zero : positions[^1]);
            positions.Add(position);
            if (recordBytes > log.MaxPayload)
                throw new MachineException($"A snapshot has more chunks than the {positions.Count - 1} that fit into "
                    + $"its record of {log.MaxPayload} bytes.");
        }
    }

    /// <summary>The newest complete snapshots in the log, newest first.</summary>
    public async Task<IReadOnlyList<SnapshotRecord>> NewestAsync(CancellationToken cancellationToken)
    {
        var found = new Queue<SnapshotRecord>();
        var from = LogPosition.Zero;
        while (true)
        {
            var cursor = new StreamCursor(log, _snapshots, from);
            try
            {
                await cursor.SyncAsync(ReadConsistency.Linearizable, cancellationToken);
                while (await cursor.ReadNextAsync(cancellationToken) is { } entry)
                {
                    if (TryRead(entry.Payload) is { } record && !found.Any(record.IsCopyOf)) found.Enqueue(record);
                    if (found.Count > Kept) found.Dequeue();
                }

                return [.. found.OrderByDescending(record => record.End)];
            }
            catch (LogTrimmedException e) when (e.Position is { } position)
            {
                from = position.Next;
            }
            catch (PageCorruptException e) when (e.Position is { } position)
            {
                from = position.Next;
            }
        }
    }

    /// <summary>Reads a snapshot's content whole, checked to the last byte.</summary>
    /// <exception cref="CorfuException">A part is trimmed, damaged or cannot be reached.</exception>
    public async Task<MemoryStream> ReadAsync(SnapshotRecord snapshot, CancellationToken cancellationToken)
    {
        var content = new MemoryStream(checked((int)Math.Min(snapshot.Length, Array.MaxLength)));
        await ReadAsync(snapshot, bytes => content.Write(bytes.Span), cancellationToken);
        content.Position = 0;
        return content;
    }

    /// <summary>Reads a snapshot back and keeps nothing.</summary>
    public Task VerifyAsync(SnapshotRecord snapshot, CancellationToken cancellationToken) =>
        ReadAsync(snapshot, static _ => { }, cancellationToken);

    public static async Task<SavedState> ReadHeadAsync(MemoryStream content, CancellationToken cancellationToken)
    {
        try
        {
            var length = new byte[sizeof(int)];
            await content.ReadExactlyAsync(length, cancellationToken);
            var head = new byte[Math.Clamp(BinaryPrimitives.ReadInt32LittleEndian(length), 0, content.Length)];
            await content.ReadExactlyAsync(head, cancellationToken);
            return SavedStateCodec.Read(head);
        }
        catch (EndOfStreamException e)
        {
            throw new MachineFormatException("A snapshot ends too early", e);
        }
    }

    private static SnapshotRecord? TryRead(ReadOnlyMemory<byte> payload)
    {
        try
        {
            return SnapshotCodec.Read(payload);
        }
        catch (MachineFormatException)
        {
            // A later version wrote the record, say: an older snapshot serves as well.
            return null;
        }
    }

    private async Task ReadAsync(
        SnapshotRecord snapshot, Action<ReadOnlyMemory<byte>> take, CancellationToken cancellationToken)
    {
        var check = new XxHash3();
        var (number, length) = (0, 0L);
        foreach (var positions in snapshot.Chunks.Chunk(ReadAtOnce))
        {
            foreach (var page in await log.ReadManyAsync([.. positions], cancellationToken: cancellationToken))
            {
                if (page.State == PageState.Trimmed)
                    throw new LogTrimmedException($"Reading a snapshot at {page.Position}", page.Position);
                if (!page.IsData)
                    throw new MachineFormatException($"The chunk at {page.Position} is {page.State}");
                var bytes = SnapshotCodec.ReadChunk(number++, page.Entry!.Payload);
                check.Append(bytes.Span);
                length += bytes.Length;
                take(bytes);
            }
        }

        if (length != snapshot.Length || check.GetCurrentHashAsUInt64() != snapshot.Check)
            throw new MachineFormatException($"The snapshot below {snapshot.End} is damaged");
    }

    /// <summary>Appends until the entry is known to be in the log. An attempt in doubt may leave a second copy, which
    /// no snapshot names or which says the same.</summary>
    private async ValueTask<LogPosition> AppendAsync(
        ReadOnlyMemory<byte> payload, StreamId stream, CancellationToken cancellationToken)
    {
        for (var attempt = 1; ; attempt++)
        {
            var result = await log.AppendAsync(payload, [stream], cancellationToken);
            if (result.IsAppended) return result.Position;
            if (attempt == options.Attempts) throw new AppendUnknownException(result);
            await Task.Delay(BackOff.After(attempt, s_pause, s_longestPause, options.Entropy), options.Time,
                cancellationToken);
        }
    }
}
