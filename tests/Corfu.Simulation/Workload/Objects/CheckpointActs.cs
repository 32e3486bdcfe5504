using Corfu.Protocol;
using Corfu.Simulation.Kernel;
using Tango;
using Tango.Checkpoints;
using Tango.Model;
using Tango.Runtime;

namespace Corfu.Simulation.Workload;

// Seeds in which runtimes make checkpoints by themselves: the log is trimmed as far as these allow, clients start again
// from them, and what a client has made of an object is compared with what others have, versions included (R21).
public sealed partial class TangoWorkload
{
    private const double ShareOfCheckpoints = 0.3;

    /// <summary>Entries of checkpoints hold values too, which are no writes.</summary>
    public static bool IsOfCheckpoint(LogEntry entry) =>
        entry.Streams.Any(static header => header.Stream.Value >= ObjectId.EndOfUser && !header.Stream.IsRaw);

    /// <summary>Notes the cohorts' states and versions. Both are made by their writes alone, so that clients that have
    /// met the same last write must agree.</summary>
    private async Task SampleCohortsAsync(int client, TangoClient tango)
    {
        if (!plan.Checkpoints || plan.IsOld(client)) return;
        await SampleCohortAsync(client, tango, tango.CellsObject);
        foreach (string solo in tango.Readable) await SampleCohortAsync(client, tango, tango.SoloOf(solo));
    }

    /// <summary>Samples all cohorts right after the opening: a loaded state shows best before much has been played on
    /// it.</summary>
    public async Task SampleOpenedAsync(int client, TangoClient tango)
    {
        try
        {
            await SampleCohortsAsync(client, tango);
        }
        catch (Exception e) when (e is LogUnavailableException or TangoTrimmedException or TangoObjectStoppedException)
        {
            monitor.Mark("operation given up");
        }
    }

    private async Task SampleCohortAsync(int client, TangoClient tango, TangoObject handle)
    {
        CohortSnapshot snapshot;
        try
        {
            snapshot = await tango.Runtime.Services.Playback.Player.CaptureAsync(
                ((ObjectHost)handle.Host).Hosted!.Cohort, default);
        }
        catch (TangoDirectoryException) when (plan.Grows)
        {
            monitor.Mark("member without a view");
            return;
        }

        history.Awaited.Add(new AwaitedSample(
            client, snapshot.End.Offset, handle.ObjectName,
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
        history.Views.Add(new ViewSample(client, at, $"state and versions of {handle.ObjectName}", check.ToString()));
    }

    // A client that does not know the type of a member that was never written has no state of it; the others have the
    // one with which the type begins.
    private static MemberSnapshot WithoutInitialState(MemberSnapshot member) =>
        member.Entry.Origin is null && member.Versions.LastAny?.Position == member.Entry.Birth
            ? member with { View = null }
            : member;

    /// <summary>The log cannot be reached for a while, or is full. What was to be appended is not in it.</summary>
    internal static bool IsLogsRefusal(Exception e) =>
        e is LogUnavailableException or CorfuStatusException { Status: Status.NoSpace };

    private async Task CheckpointOrTrimAsync(int client, TangoClient tango, SimRandom random)
    {
        try
        {
            if (random.Chance(ShareOfCheckpoints))
            {
                if (plan.IsOld(client)) return;
                await tango.Runtime.Checkpoints.WriteAsync(tango.CellsObject);
                foreach (string solo in tango.Readable) await tango.Runtime.Checkpoints.WriteAsync(tango.SoloOf(solo));
                await tango.Runtime.Checkpoints.WriteDirectoryAsync();
                monitor.Mark("object checkpointed");
                return;
            }

            // A client that has not played so far loads checkpoints (R22).
            LogPosition lowest = (
                await tango.Runtime.Log.ReadTrimPointAsync()).Claims.Min(static claim => claim.Position);
            long below = lowest.Offset - random.Next(10);
            if (below > 0) await tango.Runtime.Log.TrimBelowAsync(new LogPosition(below));
        }
        catch (Exception e) when (IsLogsRefusal(e) || e is TangoInDoubtException or TangoDirectoryException
            or TangoClaimedException or TangoFormatException)
        {
            monitor.Mark("checkpoint or trim given up");
        }
        catch (TangoTrimmedException)
        {
            monitor.Mark("client fell behind a trim");
        }
        catch (TangoObjectStoppedException e) when (Stumbles.Explains(e))
        {
            monitor.Mark("object stopped by its code");
        }
    }

    /// <summary>FNV-1a: the simulator's hashes are equal in all processes.</summary>
    private sealed class HashCode64
    {
        private ulong _hash = 14695981039346656037;

        public void Add(ReadOnlySpan<byte> bytes)
        {
            foreach (byte one in bytes) _hash = (_hash ^ one) * 1099511628211;
        }

        public override string ToString() => _hash.ToString("x16", System.Globalization.CultureInfo.InvariantCulture);
    }
}
