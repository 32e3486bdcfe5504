namespace Salus.Coordination;

/// <summary>Bytes of a volume's head.</summary>
internal static class HeadCodec
{
    private const int SmallestSnapshot = 4 + 32 + Hash128.Size + 1;
    private const int SmallestLoss = 8 + 32 + 32 + 4 + 8;

    public static void Write(ref WireWriter w, VolumeHead head)
    {
        w.Volume(head.Id);
        w.Bool(head.Geometry is not null);
        if (head.Geometry is { } geometry) w.Geometry(geometry);
        w.Int64(head.Run);
        w.Int64(head.Token);
        w.Guid(head.Driver.Value);
        w.Byte((byte)head.Phase);
        w.Bool(head.Decision is not null);
        head.Decision?.Write(ref w);
        w.Bool(head.Bar is not null);
        head.Bar?.Write(ref w);
        w.Bool(head.Shortfall is not null);
        head.Shortfall?.Write(ref w);
        w.Bool(head.Note is not null);
        head.Note?.Write(ref w);
        w.Array(head.Snapshots, static (ref w, snapshot) => snapshot.Write(ref w));
        w.Array(head.Suspicions, static (ref w, suspicion) => suspicion.Write(ref w));
        w.Array(head.Losses, static (ref w, loss) => loss.Write(ref w));
        // Last, and only where it is set: heads without it have the bytes that they always had.
        head.Shortfall?.Prefix?.Write(ref w);
    }

    public static VolumeHead Read(ref WireReader r)
    {
        var head = new VolumeHead
        {
            Id = r.Volume(),
            Geometry = r.Bool() ? r.Geometry() : null,
            Run = r.Number(),
            Token = r.Number(),
            Driver = new Incarnation(r.Guid()),
            Phase = (RunPhase)r.Byte(),
            Decision = r.Bool() ? RunDecision.Read(ref r) : null,
            Bar = r.Bool() ? RunDecision.Read(ref r) : null,
            Shortfall = r.Bool() ? RunShortfall.Read(ref r) : null,
            Note = r.Bool() ? DriverNote.Read(ref r) : null,
            Snapshots = r.Array(SmallestSnapshot, SnapshotEntry.Read, CoordinationLimits.MaxSnapshots),
            Suspicions = r.Array(Suspicion.Size, Suspicion.Read, CoordinationLimits.MaxSuspicions),
            Losses = r.Array(SmallestLoss, VolumeLoss.Read, CoordinationLimits.MaxLosses),
        };
        if (head.Shortfall is { } shortfall && r.Remaining > 0)
            head = head with { Shortfall = shortfall with { Prefix = ShownBatch.Read(ref r) } };
        return head.Phase <= RunPhase.Opened
            ? head
            : throw new MalformedDataException("The phase of a run is unknown: update this node.");
    }
}
