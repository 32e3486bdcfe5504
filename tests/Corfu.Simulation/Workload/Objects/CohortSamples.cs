using System.Globalization;
using Corfu.Simulation.Cluster;
using Corfu.Simulation.Kernel;
using Tango;
using Tango.Checkpoints;
using Tango.Model;
using Tango.Runtime;

namespace Corfu.Simulation.Workload.Objects;

/// <summary>Samples the cohorts' states and versions, where there are checkpoints (R21). Both are made by writes alone,
/// so that clients that have met the same last write must agree, whether they loaded or played.</summary>
internal sealed class CohortSamples(SeedPlan plan, TxHistory history, ClusterMonitor monitor)
{
    public async Task TakeAsync(TangoClient client)
    {
        if (!plan.Checkpoints || client.IsOld) return;
        await TakeAsync(client, client.CellsObject);
        foreach (string solo in client.HostedSolos) await TakeAsync(client, client.SoloOf(solo));
    }

    private async Task TakeAsync(TangoClient client, TangoObject handle)
    {
        CohortSnapshot snapshot;
        try
        {
            snapshot = await client.Runtime.Services.Playback.Player.CaptureAsync(
                ((ObjectHost)handle.Host).Hosted!.Cohort, default);
        }
        catch (TangoDirectoryException) when (plan.Grows)
        {
            monitor.Mark("member without a view");
            return;
        }

        history.Awaited.Add(new AwaitedSample(
            client.Number, snapshot.End.Offset, handle.ObjectName,
            [.. snapshot.Members.Select(static member => member.Entry.Id.Value)],
            [.. snapshot.Awaited.Select(static one => (one.Commit.Position.Offset, one.Commit.Index))]));
        long at = snapshot.Members.Max(static member => member.Versions.LastAny?.Position.Offset ?? -1);
        var content = new ChunkedBuffer();
        CheckpointContent.Write(content, snapshot with
        {
            Members = [.. snapshot.Members.Select(WithoutInitialState)],
            End = LogPosition.Zero,
            Awaited = [],
        });
        var check = new HashCode64();
        foreach (ReadOnlyMemory<byte> piece in content.Cut(4096)) check.Add(piece.Span);
        history.Views.Add(
            new ViewSample(client.Number, at, $"state and versions of {handle.ObjectName}", check.ToString()));
    }

    // A client that does not know the type of a member that was never written has no state of it; the others have the
    // one with which the type begins.
    private static MemberSnapshot WithoutInitialState(MemberSnapshot member) =>
        member.Entry.Origin is null && member.Versions.LastAny?.Position == member.Entry.Birth
            ? member with { View = null }
            : member;

    /// <summary>FNV-1a: the simulator's hashes are equal in all processes.</summary>
    private sealed class HashCode64
    {
        private ulong _hash = 14695981039346656037;

        public void Add(ReadOnlySpan<byte> bytes)
        {
            foreach (byte one in bytes) _hash = (_hash ^ one) * 1099511628211;
        }

        public override string ToString() => _hash.ToString("x16", CultureInfo.InvariantCulture);
    }
}
