namespace Tango.ZooKeeper;

/// <summary>A front end begins to serve. Refused if its code does not know the tree's level.</summary>
/// <param name="FrontEnd">Random and above 0: of this start of the process.</param>
/// <param name="Address">For operators.</param>
public sealed record FrontEndUpRecord(long FrontEnd, int CodeLevel, string Address) : TreeRecord
{
    private const int Fields = 3;

    public override int Number => Mutators.FrontEndUp;

    internal override ObjectKey Keys => TreeKeys.All([TreeKeys.Sessions, TreeKeys.FrontEnd(FrontEnd)]);

    internal override bool IsShared => true;

    internal override TreeResult Decide(WorkingTree tree)
    {
        if (FrontEnd <= 0 || CodeLevel < tree.Level || tree.FrontEnds.Find(FrontEnd) is not null)
            return TreeResult.Of(ZooKeeperError.SystemError);
        tree.FrontEnds = tree.FrontEnds.Set(new FrontEnd(FrontEnd, CodeLevel, Address));
        return OpResult.Done;
    }

    internal override void Write(ref MessagePackWriter writer)
    {
        writer.WriteArrayHeader(Fields);
        writer.Write(FrontEnd);
        writer.Write(CodeLevel);
        writer.WriteRequiredText(Address);
    }

    internal static FrontEndUpRecord Read(ref MessagePackReader reader)
    {
        reader.ReadArrayHeader(Fields);
        return new FrontEndUpRecord(reader.ReadInt64(), reader.ReadInt32(), reader.RequireText());
    }
}

/// <summary>A front end's sign of life. Refused once the front end is down: it must close its clients.</summary>
/// <param name="Beat">Rises with each beat, from 1.</param>
public sealed record BeatRecord(long FrontEnd, long Beat) : TreeRecord
{
    public override int Number => Mutators.Beat;

    internal override ObjectKey Keys => TreeKeys.All([TreeKeys.Sessions, TreeKeys.FrontEnd(FrontEnd)]);

    internal override bool IsShared => true;

    internal override TreeResult Decide(WorkingTree tree)
    {
        if (tree.FrontEnds.Find(FrontEnd) is not { IsDown: false } row || Beat <= row.Beat)
            return TreeResult.Of(ZooKeeperError.SystemError);
        tree.FrontEnds = tree.FrontEnds.Set(row with { Beat = Beat });
        return OpResult.Done;
    }

    internal override void Write(ref MessagePackWriter writer)
    {
        writer.WriteArrayHeader(2);
        writer.Write(FrontEnd);
        writer.Write(Beat);
    }

    internal static BeatRecord Read(ref MessagePackReader reader)
    {
        reader.ReadArrayHeader(2);
        return new BeatRecord(reader.ReadInt64(), reader.ReadInt64());
    }
}

/// <summary>A front end has ended, or others saw no beat behind this one for longer than any lease: it takes no
/// sessions any more. Refused if it has beaten since.</summary>
public sealed record FrontEndDownRecord(long FrontEnd, long Beat) : TreeRecord
{
    public override int Number => Mutators.FrontEndDown;

    internal override ObjectKey Keys => TreeKeys.All([TreeKeys.Sessions, TreeKeys.FrontEnd(FrontEnd)]);

    internal override bool IsShared => true;

    internal override TreeResult Decide(WorkingTree tree)
    {
        if (tree.FrontEnds.Find(FrontEnd) is not { IsDown: false } row || Beat != row.Beat)
            return TreeResult.Of(ZooKeeperError.SystemError);
        tree.FrontEnds = tree.FrontEnds.TakeDown(row);
        return OpResult.Done;
    }

    internal override void Write(ref MessagePackWriter writer)
    {
        writer.WriteArrayHeader(2);
        writer.Write(FrontEnd);
        writer.Write(Beat);
    }

    internal static FrontEndDownRecord Read(ref MessagePackReader reader)
    {
        reader.ReadArrayHeader(2);
        return new FrontEndDownRecord(reader.ReadInt64(), reader.ReadInt64());
    }
}
