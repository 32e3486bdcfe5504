using Salus.Region.Body;
using Salus.Region.Recovery;

namespace Salus.Region.Tests.Support;

/// <summary>Recoveries as their result: a new region is empty, and a later generation has the log that the test has put
/// into the member's store.</summary>
internal sealed class TestRecovery(
    StoreLog log, IRegionBodies bodies, VolumeGeometry geometry, Func<RegionKey, Epoch, Task> isReady) : IRegionRecovery
{
    /// <summary>The header of the last committed batch is in no record.</summary>
    public bool LacksLastHeader { get; set; }

    /// <summary>The body that was opened last.</summary>
    public IRegionBody? Opened { get; private set; }

    public async Task<RecoveredRegion> RecoverAsync(
        RegionKey region, RegionGeneration generation, CancellationToken cancellationToken)
    {
        var body = (await bodies.OpenAsync(region, geometry, [], default, cancellationToken))!.Body;
        Opened = body;
        if (generation.Number == Epoch.First) return new RecoveredRegion(body, 0, default, 0, null, default, null, []);
        await isReady(region, generation.Number).WaitAsync(cancellationToken);
        return await ReplayAsync(region, body);
    }

    public void Adopt(AdoptRequest request, ReplyTo reply) =>
        reply.Send(request.Fail(Status.Unsupported, request.Epoch));

    private async Task<RecoveredRegion> ReplayAsync(RegionKey region, IRegionBody body)
    {
        var (listed, _) = await log.ListAsync(region, 1, ListLogRequest.MaxRecords);
        var (run, index, chain) = (0L, 0L, default(Hash128));
        var accepted = new List<LoggedBatch>();
        BatchHeader? last = null;
        foreach (var one in listed)
        {
            var head = one.Head;
            // The newest generation of an index counts here.
            if (head.Previous != chain) continue;
            (index, chain) = (head.Index, head.Chain);
            var record = await log.ReadAsync(region, new RecordName(head.Generation, head.Index));
            Assert.NotNull(record);
            if (head.Kind == RegionRecordKind.Put)
            {
                var batch = SubBatch.Decode(record.Content, out _);
                await body.LoadAsync(batch, CancellationToken.None);
                Assert.True(body.Accept(batch));
                accepted.Add(new LoggedBatch(index, batch));
                continue;
            }

            var opening = Opening.Decode(record.Content);
            if (opening.Run == run) continue;
            run = opening.Run;
            while (accepted.Count > 0 && accepted[^1].Batch.Header.Name != opening.Last)
            {
                body.Undo();
                accepted.RemoveAt(accepted.Count - 1);
            }

            foreach (var kept in accepted)
            {
                body.Commit(kept.Batch);
                last = kept.Batch.Header;
            }

            accepted.Clear();
        }

        var commit = log.Find(region)?.Commit;
        while (accepted.Count > 0 && commit is not null && accepted[0].Batch.Header.Number <= commit.Batch.Number)
        {
            body.Commit(accepted[0].Batch);
            last = accepted[0].Batch.Header;
            accepted.RemoveAt(0);
        }

        return new RecoveredRegion(body, index, chain, run, commit, last?.Name ?? default,
            LacksLastHeader ? null : last, [.. accepted]);
    }
}
