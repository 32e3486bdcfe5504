using Corfu.Grpc.Protocol.Log.V1;
using Grpc.Core;
using ReadResponse = Corfu.Grpc.Protocol.Log.V1.ReadResponse;

namespace Corfu.Grpc;

/// <summary>Reads positions in batches whose size follows that of the entries, and sends each batch.</summary>
/// <param name="takeBytes">Takes bytes of the caller's share.</param>
internal sealed class BatchReader(ICorfuLog log, (ReadDetail Detail, ReadMode Mode) how, CorfuGrpcOptions options,
    Func<long, ValueTask<IDisposable>> takeBytes, IServerStreamWriter<ReadResponse> responses)
{
    // Limit of the memory reserved for a batch, in multiples of MaxBatchBytes: its entries may be larger than those
    // before.
    private const int BatchesReserved = 4;

    // Bytes of an entry without its payload.
    private const int HeaderBytes = 256;

    private readonly BatchSize _size = new(options, how.Detail);

    public async ValueTask<LogPosition> TailAsync(CancellationToken cancellationToken) =>
        (await log.CheckAsync([], cancellationToken: cancellationToken)).Tail;

    /// <param name="positionAt">For each index below <paramref name="count"/>.</param>
    public async Task ReadAsync(long count, Func<long, LogPosition> positionAt, CancellationToken cancellationToken)
    {
        for (var next = 0L; next < count;)
        {
            var batch = ImmutableArray.CreateBuilder<LogPosition>((int)Math.Min(_size.Entries, count - next));
            while (batch.Count < batch.Capacity) batch.Add(positionAt(next++));
            var most = how.Detail == ReadDetail.Full ? log.MaxPayload : HeaderBytes;
            using var bytes = await takeBytes(
                Math.Min((long)batch.Count * most, (long)BatchesReserved * options.MaxBatchBytes));
            await SendAsync(
                await log.ReadManyAsync(batch.MoveToImmutable(), how.Detail, how.Mode, cancellationToken),
                cancellationToken);
        }
    }

    private async Task SendAsync(ImmutableArray<LogReadResult> results, CancellationToken cancellationToken)
    {
        var response = new ReadResponse();
        long total = 0, bytes = 0;
        foreach (var result in results)
        {
            var size = result.Entry?.Payload.Length ?? 0;
            if (response.Results.Count > 0 && bytes + size > options.MaxBatchBytes)
            {
                await responses.WriteAsync(response, cancellationToken);
                response = new ReadResponse();
                bytes = 0;
            }

            response.Results.Add(LogMessages.ToMessage(result));
            bytes += size;
            total += size;
        }

        await responses.WriteAsync(response, cancellationToken);
        _size.Saw(results.Length, total);
    }
}

/// <summary>Entries to read at once: as many as make one message of entries like the last ones.</summary>
internal sealed class BatchSize(CorfuGrpcOptions options, ReadDetail detail)
{
    private const int First = 4;

    public int Entries { get; private set; } =
        detail == ReadDetail.Full ? Math.Min(First, options.MaxBatchEntries) : options.MaxBatchEntries;

    public void Saw(int entries, long bytes)
    {
        if (bytes > options.MaxBatchBytes) Entries = Math.Max(1, Entries / 2);
        else if (bytes * 2 < options.MaxBatchBytes && entries == Entries)
            Entries = Math.Min(options.MaxBatchEntries, Entries * 2);
    }
}
