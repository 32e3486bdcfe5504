using Salus.Store.Files;
using Salus.Store.Log;

namespace Salus.Store;

/// <summary>A machine's store as a role of a process: what it shows to recoveries and copies, and seals. Region servers
/// of the process use <see cref="StoreLog"/> itself. No thread and no clock of its own.</summary>
/// <param name="scrubs">The searches for damage in the store's data.</param>
public sealed class StoreHandler(NodeId id, StoreLog log, IRegionFiles files, IGenerations generations,
    params IScrubState[] scrubs) : IRoleHandler
{
    public NodeRole Role => SalusRoles.BlockStore;

    public NodeId Id { get; } = id;

    public void Handle(Request request, ReplyTo reply)
    {
        switch (request)
        {
            case SealRegionRequest seal:
                _ = AnswerAsync(seal, reply, SealAsync);
                break;
            case ListLogRequest list:
                _ = AnswerAsync(list, reply, ListAsync);
                break;
            case ReadRecordsRequest read:
                _ = AnswerAsync(read, reply, ReadAsync);
                break;
            case ListFilesRequest list:
                _ = AnswerAsync(list, reply, ListFilesAsync);
                break;
            case ReadFileRequest read:
                _ = AnswerAsync(read, reply, ReadFileAsync);
                break;
            case StoreInfoRequest info:
                reply.Send(InfoOf(info));
                break;
            default:
                reply.Send(request.Fail(Status.Unsupported, Epoch.None));
                break;
        }
    }

    public void BatchEnd() => log.Commit();

    private async Task AnswerAsync<TRequest>(
        TRequest request, ReplyTo reply, Func<TRequest, ValueTask<Response>> answer)
        where TRequest : Request
    {
        Response response;
        try
        {
            response = await answer(request);
        }
        catch (Exception error) when (error is StoreFailedException or IOException)
        {
            // The folder of the files cannot be read: the store does not know which it has.
            response = request.Fail(Status.Failed, request.Epoch);
        }

        reply.Send(response);
    }

    // A salvaged log takes no records at all: what it shows is final as it is.
    private async ValueTask<Response> SealAsync(SealRegionRequest request)
    {
        if (!generations.IsRecorded(request.Region, request.Epoch))
            return request.Fail(Status.NotInstalled, request.Epoch);
        if (log.State != StoreState.Salvaged)
        {
            var status = log.TrySeal(request.Region, request.Epoch, out var lsn);
            if (status != Status.Ok) return request.Fail(status, log.Find(request.Region)?.Sealed ?? request.Epoch);
            await log.WaitDurableAsync(lsn);
        }

        var found = log.Find(request.Region);
        return new SealRegionResponse(Status.Ok, request.Epoch)
        {
            Generation = found?.Last.Generation ?? Epoch.None,
            LastIndex = found?.Last.Index ?? 0,
        };
    }

    private async ValueTask<Response> ListAsync(ListLogRequest request)
    {
        if (log.Find(request.Region) is not { } found) return request.Fail(SalusStatus.NotFound, request.Epoch);
        var (records, hasMore) = await log.ListAsync(request.Region, request.From, request.Most);
        return new ListLogResponse(Status.Ok, request.Epoch)
        {
            Sealed = found.Sealed,
            Records = records,
            HasMore = hasMore,
            Commit = found.Commit,
        };
    }

    private async ValueTask<Response> ReadAsync(ReadRecordsRequest request)
    {
        var records = ImmutableArray.CreateBuilder<ReadOnlyMemory<byte>>();
        var bytes = 0L;
        var most = Math.Min(request.MaxBytes, MessageLimits.ReadBudget);
        foreach (var name in request.Records)
        {
            if (records.Count > 0 && bytes >= most) break;
            var record = await log.ReadAsync(request.Region, name);
            records.Add(record?.Encode());
            bytes += records[^1].Length;
        }

        return new ReadRecordsResponse(Status.Ok, request.Epoch) { Records = records.DrainToImmutable() };
    }

    private async ValueTask<Response> ListFilesAsync(ListFilesRequest request)
    {
        var listed = ImmutableArray.CreateBuilder<ListedFile>();
        foreach (var file in files.List().Where(file => file.Region == request.Region)
            .OrderBy(file => file.Number).TakeLast(ListFilesRequest.MaxFiles))
        {
            try
            {
                var opened = await CheckpointFile.OpenAsync(files, file);
                listed.Add(new ListedFile(opened.Name, files.Length(file)));
            }
            catch (Exception error) when (error is MalformedDataException or IOException or ObjectDisposedException)
            {
                // A damaged file is not offered to others.
            }
        }

        return new ListFilesResponse(Status.Ok, request.Epoch) { Files = listed.DrainToImmutable() };
    }

    private async ValueTask<Response> ReadFileAsync(ReadFileRequest request)
    {
        var file = new RegionFile(request.Region, request.File);
        try
        {
            var bytes = new byte[request.Length];
            var read = await files.ReadAsync(file, request.Offset, bytes);
            return new ReadFileResponse(Status.Ok, request.Epoch)
            {
                Total = files.Length(file),
                Bytes = bytes.AsMemory(0, read),
            };
        }
        catch (Exception error) when (error is IOException or ObjectDisposedException)
        {
            // Deleted meanwhile, or never there.
            return request.Fail(SalusStatus.NotFound, request.Epoch);
        }
    }

    private StoredRegion Counted(StoredRegion region)
    {
        foreach (var scrub in scrubs)
        {
            var count = scrub.CountOf(region.Region);
            region = region with { Damaged = region.Damaged + count.Damaged, Mended = region.Mended + count.Mended };
        }

        return region;
    }

    private StoreInfoResponse InfoOf(StoreInfoRequest request) => new(Status.Ok, request.Epoch)
    {
        State = log.State,
        Free = log.Free,
        LogBytes = log.Bytes,
        Regions = [.. log.Regions.Take(StoredRegion.Most).Select(Counted)],
    };
}
