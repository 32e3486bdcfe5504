using System.Collections.Immutable;
using Corfu.Conformance;
using Corfu.Protocol;
using Corfu.Storage;
using Corfu.Unit;

namespace Corfu.FaultRuns.PowerCuts.Recorded;

/// <summary>All that a unit says of itself after a start: pages, tombstones, marks, epochs, stream tails.</summary>
internal sealed record UnitContent(
    Epoch SealedBelow, Epoch Installed, long Mark, long End, ImmutableArray<PageResult> Pages,
    ImmutableArray<StreamTail> Tails, bool StartedFromCheckpoint)
{
    public static readonly UnitContent Empty = new(Epoch.None, Epoch.None, 0, 0, [], [], false);

    /// <summary>Starts a unit on this disk, which it changes, asks it, and stops it.</summary>
    /// <exception cref="LogDamagedException">The unit takes the disk for a damaged one.</exception>
    public static async Task<UnitContent> ReadAsync(RecordingFiles disk, string mapFolder,
        ImmutableArray<StreamId> streams)
    {
        var records = Directory.Exists(mapFolder) ? await CountAsync(disk) : 0;
        await using var store = PageStore.OnFaster(disk, Stores.Unit, RecordedLife.Options, mapFolder);
        var core = await UnitCore.OpenAsync(store, new UnitCoreOptions { Cluster = Entries.Cluster });
        var fromCheckpoint = store.RecordsRead < records;
        var unit = new HandlerClient(new UnitHandler(Stores.Unit, core, store));
        try
        {
            var info = await unit.AskAsync(new UnitInfoRequest(Epoch.None));
            // Installs the next epoch: pages are shown only when an epoch is served, and streams are listed below its
            // start.
            var epoch = new Epoch(info.SealedBelow.Value + 1);
            Require((await unit.AskAsync(new SealRequest(epoch))).Status);
            Require((await unit.AskAsync(new InstallRequest(Entries.Projection(epoch.Value, info.End.Offset)))).Status);
            var pages = ImmutableArray.CreateBuilder<PageResult>((int)info.End.Offset);
            while (pages.Count < info.End.Offset)
            {
                var wanted = Enumerable.Range(pages.Count,
                    (int)Math.Min(MessageLimits.MaxItems, info.End.Offset - pages.Count))
                    .Select(p => new LogPosition(p));
                var answer = await unit.AskAsync(new ReadRequest(epoch, [.. wanted], ReadDetail.Full));
                Require(answer.Status);
                pages.AddRange(answer.Pages);
            }

            var tails = await unit.AskAsync(new StreamTailsRequest(epoch, streams));
            Require(tails.Status);
            return new UnitContent(info.SealedBelow, info.Installed, info.TrimMark.Offset, info.End.Offset,
                pages.ToImmutable(), tails.Tails, fromCheckpoint);
        }
        finally
        {
            await unit.Handler.DisposeAsync();
        }
    }

    private static async Task<long> CountAsync(RecordingFiles disk)
    {
        var id = RecordCodec.LogIdOf(Stores.Unit);
        var records = 0L;
        await new LogScanner(new SegmentImage(disk, RecordedLife.Options.SegmentSize),
            id).ScanAsync(new DurableMark(disk, id).Read(), (in LogRecord _, in RecordPlace _) => records++);
        return records;
    }

    private static void Require(Status status)
    {
        if (status != Status.Ok) throw new LostException($"the unit answers {status} after its start");
    }
}
