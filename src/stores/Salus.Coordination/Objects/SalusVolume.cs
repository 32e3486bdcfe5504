using Salus.Coordination.Formats;
using Salus.Coordination.Rules;
using Tango;

namespace Salus.Coordination;

/// <summary>A volume, as an object of the log: its regions with their generations, the runs of its writers, snapshots
/// and losses. Apply checks every change, so that no proposer can break the rules and none needs a
/// transaction.</summary>
/// <remarks>Answers of type <c>string?</c> say why nothing changes; null: it changes, or had changed before.</remarks>
#pragma warning disable TANGO008 // StoredFormat registers the formatters.
[TangoObject("salus.volume")]
public sealed partial class SalusVolume : TangoObject
{
    // Rises with every change of the two fields behind it.
    private long _revision;
    private VolumeHead _head = VolumeHead.None;
    private ImmutableSortedDictionary<int, RegionState> _regions = VolumeState.Empty.Regions;

    static SalusVolume() => StoredFormat.Register();

    private VolumeState State => new(_revision, _head, _regions);

    public static string NameOf(VolumeId id) => $"salus.volume/{id.Value:N}";

    /// <summary>The name of the lock that the volume's writer has.</summary>
    public static string LockOf(VolumeId id) => $"salus/{id.Value:N}/writer";

    /// <summary>A state behind that revision, as soon as this process has played one.</summary>
    public ValueTask<VolumeState> WaitForStateAsync(long after, CancellationToken cancellationToken = default) =>
        WaitForViewAsync<SalusVolume, VolumeState>(
            static view => view.State, state => state.Revision > after, cancellationToken);

    /// <summary>Linearizable.</summary>
    [Accessor]
    public partial ValueTask<VolumeState> StateAsync(CancellationToken cancellationToken = default);

    /// <summary>Fixes id and geometry.</summary>
    [Mutator(1)]
    public partial ValueTask<string?> CreateAsync(
        VolumeId id, VolumeGeometry geometry, CancellationToken cancellationToken = default);

    /// <summary>The first members of the next regions, up to <see cref="CoordinationLimits.MaxPlaced"/> at
    /// once.</summary>
    [Mutator(2)]
    public partial ValueTask<string?> PlaceAsync(
        int first, PlacedRegions regions, CancellationToken cancellationToken = default);

    /// <summary>Begins the generation behind that one. The region's report is dropped.</summary>
    [Mutator(3)]
    public partial ValueTask<string?> ReplaceAsync(int region, long generation, ImmutableArray<RegionMember> members,
        CancellationToken cancellationToken = default);

    /// <summary>The generation has recovered and has opened. Refused behind a newer replacement.</summary>
    /// <param name="certificate">The generation's members sign the opening.</param>
    [Mutator(4)]
    public partial ValueTask<string?> RecoveredAsync(int region, long generation, RegionOpening opening,
        Certificate certificate, CancellationToken cancellationToken = default);

    /// <summary>The driver of the run has compared the generation with its own history.</summary>
    [Mutator(5)]
    public partial ValueTask<string?> AdmitAsync(
        int region, long generation, long run, CancellationToken cancellationToken = default);

    /// <summary>The member's store has all files of the region.</summary>
    [Mutator(6)]
    public partial ValueTask<string?> FillAsync(
        int region, long generation, Incarnation member, CancellationToken cancellationToken = default);

    /// <summary>A checkpoint that all members have signed.</summary>
    [Mutator(7)]
    public partial ValueTask<string?> PublishAsync(int region, long generation, CheckpointName checkpoint,
        Certificate certificate, CancellationToken cancellationToken = default);

    /// <summary>Begins a run; every region reports to it.</summary>
    /// <param name="token">The fencing token of the writer's lock.</param>
    [Mutator(8)]
    public partial ValueTask<RunStart> BeginRunAsync(
        long token, Incarnation driver, CancellationToken cancellationToken = default);

    /// <summary>A region's report. The last one decides the run, for everyone alike.</summary>
    [Mutator(9)]
    public partial ValueTask<string?> ReportAsync(int region, long generation, RegionReport report,
        Certificate certificate, CancellationToken cancellationToken = default);

    /// <summary>All regions have opened at the decision. Admits the generations, which the driver has
    /// compared.</summary>
    /// <param name="generations">By region.</param>
    [Mutator(10)]
    public partial ValueTask<string?> OpenedAsync(long run, Hash128 root, ImmutableArray<long> generations,
        CancellationToken cancellationToken = default);

    /// <summary>How far the driver is.</summary>
    /// <param name="root">The volume's root after the proven batch.</param>
    /// <param name="stable">All batches up to this one are in checkpoints on the log, of all their regions. Held back
    /// below a marker whose snapshot is not recorded yet.</param>
    [Mutator(11)]
    public partial ValueTask<string?> NoteAsync(long run, CommitProof proof, Hash128 root, long stable,
        CancellationToken cancellationToken = default);

    /// <summary>An operator gives up acknowledged batches, on record.</summary>
    [Mutator(12)]
    public partial ValueTask<string?> AcceptLossAsync(long run, BatchName kept, Hash128 root, string by,
        long unixMilliseconds, CancellationToken cancellationToken = default);

    /// <summary>A snapshot at a marker that is committed.</summary>
    /// <param name="root">The volume's root after the marker.</param>
    [Mutator(13)]
    public partial ValueTask<string?> RecordSnapshotAsync(long run, string name, BatchName marker, Hash128 root,
        CommitProof proof, CancellationToken cancellationToken = default);

    [Mutator(14)]
    public partial ValueTask<string?> DeleteSnapshotAsync(
        string name, CancellationToken cancellationToken = default);

    /// <summary>Accuses a member of the newest generation.</summary>
    [Mutator(15)]
    public partial ValueTask<string?> SuspectAsync(
        Suspicion suspicion, CancellationToken cancellationToken = default);

    /// <summary>Asks the writer for a snapshot, which it records.</summary>
    [Mutator(16)]
    public partial ValueTask<string?> WantSnapshotAsync(
        string name, CancellationToken cancellationToken = default);

    /// <summary>The regions have opened at the decision, and their roots do not make its root: the run waits.</summary>
    /// <param name="regions">Regions that may lack something.</param>
    /// <param name="prefix">The last batch whose root the regions' roots make, at or above the stable point.</param>
    /// <param name="generations">By region: those that the driver has compared.</param>
    [Mutator(17)]
    public partial ValueTask<string?> LackAsync(long run, ImmutableArray<int> regions, ShownBatch prefix,
        ImmutableArray<long> generations, CancellationToken cancellationToken = default);

    private VolumeState ReadState() => State;

    private string? ApplyCreate(VolumeId id, VolumeGeometry geometry) =>
        Take(RegionRules.Create(State, id, geometry));

    private string? ApplyPlace(int first, PlacedRegions regions) =>
        Take(RegionRules.Place(State, first, regions.Members));

    private string? ApplyReplace(int region, long generation, ImmutableArray<RegionMember> members) =>
        Take(RegionRules.Replace(State, region, new Epoch(generation), members));

    private string? ApplyRecovered(int region, long generation, RegionOpening opening, Certificate certificate) =>
        Take(RegionRules.Recovered(State, region, new Epoch(generation), opening, certificate));

    private string? ApplyAdmit(int region, long generation, long run) =>
        Take(RegionRules.Admit(State, region, new Epoch(generation), run));

    private string? ApplyFill(int region, long generation, Incarnation member) =>
        Take(RegionRules.Fill(State, region, new Epoch(generation), member));

    private string? ApplyPublish(int region, long generation, CheckpointName checkpoint, Certificate certificate) =>
        Take(RegionRules.Publish(State, region, new Epoch(generation), checkpoint, certificate));

    private RunStart ApplyBeginRun(long token, Incarnation driver)
    {
        var refusal = Take(VolumeRules.BeginRun(State, token, driver));
        return new RunStart(_head.Run, refusal);
    }

    private string? ApplyReport(int region, long generation, RegionReport report, Certificate certificate) =>
        Take(VolumeRules.Report(State, region, new Epoch(generation), report, certificate));

    private string? ApplyOpened(long run, Hash128 root, ImmutableArray<long> generations) =>
        Take(VolumeRules.Opened(State, run, root, generations));

    private string? ApplyLack(
        long run, ImmutableArray<int> regions, ShownBatch prefix, ImmutableArray<long> generations) =>
        Take(VolumeRules.Lack(State, run, regions, prefix, generations));

    private string? ApplyNote(long run, CommitProof proof, Hash128 root, long stable) =>
        Take(VolumeRules.Note(State, run, proof, root, stable));

    private string? ApplyAcceptLoss(long run, BatchName kept, Hash128 root, string by, long unixMilliseconds) =>
        Take(VolumeRules.AcceptLoss(State, run, kept, root, by, unixMilliseconds));

    private string? ApplyRecordSnapshot(
        long run, string name, BatchName marker, Hash128 root, CommitProof proof) =>
        Take(SnapshotRules.Record(State, run, name, marker, root, proof));

    private string? ApplyDeleteSnapshot(string name) => Take(SnapshotRules.Delete(State, name));

    private string? ApplyWantSnapshot(string name) => Take(SnapshotRules.Want(State, name));

    private string? ApplySuspect(Suspicion suspicion) => Take(VolumeRules.Suspect(State, suspicion));

    private string? Take(VolumeRuling ruling)
    {
        (_revision, _head, _regions) = (ruling.State.Revision, ruling.State.Head, ruling.State.Regions);
        return ruling.Refusal;
    }
}

/// <summary>The answer to a writer that begins a run.</summary>
/// <param name="Run">The volume's run after the call; the writer's own, where there is no refusal.</param>
[MessagePackObject]
public readonly record struct RunStart([property: Key(0)] long Run, [property: Key(1)] string? Refusal);
