using Tango.Formatting;

namespace Salus.Coordination.Formats;

/// <summary>Bytes of Salus's types in records and checkpoints of the log: one binary value each. They are stored: a
/// change of them is another version here, and needs a new type in the log.</summary>
internal static class StoredFormat
{
    private const int Format = 1;

    static StoredFormat()
    {
        Add("salus.volume-id", (ref w, value) => w.Volume(value), static (ref r) => r.Volume(), Samples.Volume);
        Add("salus.incarnation", (ref w, value) => w.Guid(value.Value), static (ref r) => new Incarnation(r.Guid()),
            Samples.Incarnation);
        Add("salus.hash", (ref w, value) => w.Hash(value), static (ref r) => r.Hash(), Samples.Hash);
        Add("salus.batch-name", (ref w, value) => value.Write(ref w), BatchName.Read, Samples.Batch);
        Add("salus.checkpoint-name", (ref w, value) => value.Write(ref w), CheckpointName.Read, Samples.Checkpoint);
        Add("salus.geometry", (ref w, value) => w.Geometry(value), static (ref r) => r.Geometry(), Samples.Geometry);
        Add("salus.certificate", (ref w, value) => value.Write(ref w), Certificate.Read, Samples.Certificate);
        Add("salus.proof", (ref w, value) => value.Write(ref w), CommitProof.Read, Samples.Proof);
        Add("salus.report", (ref w, value) => value.Write(ref w), RegionReport.Read, Samples.Report);
        Add("salus.member", RegionCodec.Member, RegionCodec.Member, Samples.Member);
        Add("salus.placed", (ref w, value) => value.Write(ref w), PlacedRegions.Read,
            new PlacedRegions([[Samples.Member]]));
        Add("salus.opening", (ref w, value) => value.Write(ref w), RegionOpening.Read, Samples.Opening);
        Add("salus.suspicion", (ref w, value) => value.Write(ref w), Suspicion.Read, Samples.Suspicion);
        Add("salus.node", (ref w, value) => value.Write(ref w), BookedNode.Read, Samples.Node);
        Add("salus.volume-entry", (ref w, value) => value.Write(ref w), VolumeEntry.Read,
            new VolumeEntry(Samples.Volume, Samples.Geometry, VolumeStage.Ready));
        Add("salus.region", RegionCodec.Region, RegionCodec.Region, Samples.Region);
        Add("salus.shown-batch", (ref w, value) => value.Write(ref w), ShownBatch.Read,
            new ShownBatch(Samples.Batch, Samples.Hash));
        Add("salus.head", HeadCodec.Write, HeadCodec.Read, Samples.Head);
    }

    /// <summary>Makes the formatters known, in the first call: the types are in use afterwards. Called before an object
    /// is first opened.</summary>
    public static void Register()
    {
        // The static constructor does.
    }

    private static void Add<T>(string name, WriteElement<T> write, ReadElement<T> read, T sample) =>
        TangoFormatters.Register(new WireFormatter<T>(write, read), name, Format, sample);

    /// <summary>Values with every field set.</summary>
    private static class Samples
    {
        public static readonly VolumeId Volume = new(new Guid(1, 2, 3, [4, 5, 6, 7, 8, 9, 10, 11]));
        public static readonly Incarnation Incarnation = new(new Guid(2, 2, 3, [4, 5, 6, 7, 8, 9, 10, 11]));
        public static readonly Hash128 Hash = new(7);
        public static readonly BatchName Batch = new(3, 42, Hash);
        public static readonly CheckpointName Checkpoint = new(2, 90, 3, 41, Hash, Hash);
        public static readonly VolumeGeometry Geometry = VolumeGeometry.Create(1 << 20, 4096, 64, 1);
        public static readonly Certificate Certificate = new(new Epoch(5), [new WeakSignature(Hash)]);
        public static readonly CommitProof Proof = new(0, Batch, Certificate);
        public static readonly ReportedBatch Reported = new(Batch with { Number = 43 }, Hash, [0, 2]);

        public static readonly RegionReport Report =
            new(4, Proof, new ReportedBatch(Batch, Hash, []), [Reported]);

        public static readonly RegionMember Member = new(new StoreId(Volume.Value), Incarnation, true);
        public static readonly RegionOpening Opening = new(9, Hash, 3, Batch, 2);

        public static readonly Suspicion Suspicion =
            new(0, new Epoch(2), Incarnation, SuspicionKind.Stall, 1_700_000_000_000);

        public static readonly BookedNode Node = new(new StoreId(Volume.Value), Incarnation,
            new NodeEndpoint("host", 1), "rack", 1000, BookedState.Expelled, 7);

        public static readonly RegionState Region = new(new RegionGeneration(new Epoch(2), [Member], null, false),
            [new RegionGeneration(Epoch.First, [Member], Opening, true)], [Checkpoint], Report);

        public static readonly VolumeHead Head = new()
        {
            Id = Volume,
            Geometry = Geometry,
            Run = 4,
            Token = 6,
            Driver = Incarnation,
            Phase = RunPhase.Waiting,
            Decision = new RunDecision(3, Batch, Hash, [Batch, null]),
            Bar = new RunDecision(3, Batch, Hash, []),
            Shortfall = new RunShortfall([1], Batch, 41) { Prefix = new ShownBatch(Batch, Hash) },
            Note = new DriverNote(Batch, Hash, 40),
            Snapshots = [new SnapshotEntry("snap", Batch, Hash, SnapshotState.Complete)],
            Suspicions = [Suspicion],
            Losses = [new VolumeLoss(2, Batch, Batch, "operator", 1_700_000_000_000)],
        };
    }
}
