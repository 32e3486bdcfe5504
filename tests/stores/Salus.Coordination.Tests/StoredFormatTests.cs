using Salus.Coordination.Formats;
using Tango;
using Tango.Formatting;
using static Salus.Coordination.Tests.Support.TestVolume;

namespace Salus.Coordination.Tests;

/// <summary>The bytes stand in logs: a change of a line of Golden/stored.txt needs another version of its
/// format.</summary>
public sealed class StoredFormatTests
{
    private static readonly Certificate s_certificate = new(new Epoch(5), [new WeakSignature(Hash(3))]);

    static StoredFormatTests() => StoredFormat.Register();

    [Fact]
    public void Bytes_of_stored_values_never_change()
    {
        string[] lines = [.. SmallValues(), .. Proofs(), .. States()];
        var golden = System.IO.File.ReadAllLines(Path.Combine(AppContext.BaseDirectory, "Golden", "stored.txt"));
        Assert.True(lines.SequenceEqual(golden), string.Join('\n', lines));
    }

    [Fact]
    public void Values_out_of_bounds_are_never_written()
    {
        AssertRefused(new VolumeEntry(Id, VolumeGeometry.Create(1 << 20), (VolumeStage)9));
        AssertRefused(new BookedNode(Store(1), Name(2), new NodeEndpoint("h", 7), "", -1, BookedState.Live, 9));
        AssertRefused(new Suspicion(1, new Epoch(2), Name(3), SuspicionKind.None, 4));
        AssertRefused(new RegionReport(3, null, Reported(1, 2), [Reported(1, 2)]));
        AssertRefused(new RegionReport(3, null, null, [Reported(1, 3), Reported(1, 2)]));
        AssertRefused(new RegionReport(3, null, null, [Reported(1, 3, 2, 1)]));
        AssertRefused(new RegionReport(3, null, null,
            [.. Enumerable.Range(1, RegionReport.MaxBatches + 1).Select(number => Reported(1, number))]));
        AssertRefused(new VolumeHead { Run = -1 });
        AssertRefused(new VolumeHead { Phase = (RunPhase)9 });
    }

    private static IEnumerable<string> SmallValues()
    {
        yield return Line(Id);
        yield return Line(Name(1));
        yield return Line(Hash(1));
        yield return Line(Batch(1, 2));
        yield return Line(File(1, 2, 3));
        yield return Line(VolumeGeometry.Create(1 << 20, 4096, 64, 2));
        yield return Line(Member(1));
        yield return Line(new PlacedRegions([Members(1, 2)]));
        yield return Line(new RegionOpening(9, Hash(1), 2, Batch(1, 2), 3));
        yield return Line(new Suspicion(1, new Epoch(2), Name(3), SuspicionKind.Stall, 4));
        yield return Line(new VolumeEntry(Id, VolumeGeometry.Create(1 << 20, 4096, 64, 2), VolumeStage.Ready));
        yield return Line(new BookedNode(Store(1), Name(2), new NodeEndpoint("host", 7), "rack", 8,
            BookedState.Expelled, 9));
    }

    private static IEnumerable<string> Proofs()
    {
        yield return Line(s_certificate);
        yield return Line(new CommitProof(1, Batch(1, 2), s_certificate));
        yield return Line(new RegionReport(3, new CommitProof(1, Batch(1, 2), s_certificate), Reported(1, 2),
            [Reported(1, 3, 0, 1)]));
    }

    private static IEnumerable<string> States()
    {
        yield return Line(new RegionState(
            new RegionGeneration(new Epoch(2), Members(1), null, false),
            [new RegionGeneration(Epoch.First, Members(2), new RegionOpening(9, Hash(1), 2, Batch(1, 2), 3), true)],
            [File(1, 2, 3)], new RegionReport(3, null, null, [])));
        yield return Line(new VolumeHead
        {
            Id = Id,
            Geometry = VolumeGeometry.Create(1 << 20, 4096, 64, 2),
            Run = 3,
            Token = 4,
            Driver = Driver,
            Phase = RunPhase.Waiting,
            Decision = new RunDecision(2, Batch(1, 2), Root(2), [Batch(1, 2), null]),
            Bar = new RunDecision(1, default, default, []),
            Shortfall = new RunShortfall([1], Batch(1, 3), 2),
            Note = new DriverNote(Batch(1, 3), Root(3), 1),
            Snapshots = [new SnapshotEntry("s", Batch(1, 1), Root(1), SnapshotState.Complete)],
            Suspicions = [new Suspicion(1, new Epoch(2), Name(3), SuspicionKind.WrongAnswer, 4)],
            Losses = [new VolumeLoss(2, Batch(1, 2), Batch(1, 3), "me", 5)],
        });
        yield return Line(new ShownBatch(Batch(1, 2), Root(2)));
        yield return Line(new VolumeHead
        {
            Run = 3,
            Phase = RunPhase.Waiting,
            Shortfall = new RunShortfall([1], Batch(1, 3), 2) { Prefix = new ShownBatch(Batch(1, 2), Root(2)) },
        });
    }

    private static string Line<T>(T value) =>
        $"{typeof(T).Name} {Convert.ToHexStringLower(TangoFormatters.ToBytes(value).Span)}";

    private static void AssertRefused<T>(T value) =>
        Assert.Throws<TangoFormatException>(() => TangoFormatters.ToBytes(value));
}
