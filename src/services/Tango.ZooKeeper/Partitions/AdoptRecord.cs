namespace Tango.ZooKeeper;

/// <summary>Begins a partition at its mount, with the service's settings, front ends and sessions.</summary>
public sealed record AdoptRecord : TreeRecord
{
    private const int Fields = 7;

    private AdoptRecord(ulong seed, TreeSettings settings, MountTable mounts, int level, long time,
        ImmutableArray<FrontEnd> frontEnds, ImmutableArray<ZooKeeperSession> sessions) =>
        (Seed, Settings, Mounts, Level, Time, FrontEnds, Sessions) =
        (seed, settings, mounts, level, time, frontEnds, sessions);

    public override int Number => Mutators.Adopt;

    internal override int? NewLevel => Level;

    private ulong Seed { get; }

    private TreeSettings Settings { get; }

    private MountTable Mounts { get; }

    private int Level { get; }

    private long Time { get; }

    private ImmutableArray<FrontEnd> FrontEnds { get; }

    private ImmutableArray<ZooKeeperSession> Sessions { get; }

    /// <param name="root">Root partition before the mount.</param>
    /// <param name="seed">Random, as <see cref="BeginRecord.Seed"/>.</param>
    internal static AdoptRecord Of(TreeRoot root, TreeMount mount, ulong seed, long time) => new(
        seed, root.Settings, root.Parts.Mounts.Add(mount.Path, mount.ObjectName).At(mount.Path),
        Math.Max(root.Level, TreeLevel.Partitions), time, [.. root.AllFrontEnds], [.. root.AllSessions()]);

    internal override TreeResult Decide(WorkingTree tree)
    {
        if (tree.Level != 0) throw new TangoFormatException($"'{Mounts.Home}' was mounted on an object in use");
        tree.Begin(Seed, TreeLevel.Require(Level), Settings);
        tree.Time = Time;
        // Nodes above the mount are in other partitions; here they only hold it.
        for (var slash = Mounts.Home.IndexOf('/', 1); ; slash = Mounts.Home.IndexOf('/', slash + 1))
        {
            var path = slash < 0 ? Mounts.Home : Mounts.Home[..slash];
            if (tree.Find(path) is null)
                tree.Add(path, null, AclList.Open, NodeOwner.None, tree.Find(NodePath.ParentOf(path)!)!);
            if (slash < 0) break;
        }

        // Not before: nodes are added wherever they are.
        tree.Mounts = Mounts;
        foreach (var row in FrontEnds) tree.FrontEnds = tree.FrontEnds.Set(row with { Sessions = 0 });
        foreach (var session in Sessions)
        {
            tree.Sessions = tree.Sessions.Set(session);
            tree.FrontEnds = tree.FrontEnds.Enter(session.FrontEnd);
        }

        return OpResult.Done;
    }

    internal override void Write(ref MessagePackWriter writer)
    {
        writer.WriteArrayHeader(Fields);
        writer.Write(Level);
        writer.Write(Seed);
        Settings.Write(ref writer);
        Mounts.Write(ref writer);
        writer.Write(Time);
        TreeState.Write(ref writer, FrontEnds);
        TreeState.Write(ref writer, Sessions);
    }

    internal static AdoptRecord Read(ref MessagePackReader reader)
    {
        reader.ReadArrayHeader(Fields);
        var (level, seed) = (reader.ReadInt32(), reader.ReadUInt64());
        var (settings, mounts, time) = (
            TreeSettings.Read(ref reader), MountTable.Read(ref reader), reader.ReadInt64());
        var frontEnds = ImmutableArray.CreateBuilder<FrontEnd>();
        for (var left = reader.ReadCount(); left > 0; left--) frontEnds.Add(TreeState.ReadFrontEnd(ref reader));
        var sessions = ImmutableArray.CreateBuilder<ZooKeeperSession>();
        for (var left = reader.ReadCount(); left > 0; left--) sessions.Add(TreeState.ReadSession(ref reader));
        if (level < TreeLevel.Partitions || mounts.Home == NodePath.Root)
            throw new TangoFormatException($"A partition of level {level} has the mount '{mounts.Home}'");
        var ids = frontEnds.Select(static row => row.Id).ToHashSet();
        if (sessions.Any(session => !ids.Contains(session.FrontEnd)))
            throw new TangoFormatException("A session is attached to no front end");
        return new AdoptRecord(
            seed, settings, mounts, level, time, frontEnds.ToImmutable(), sessions.ToImmutable());
    }
}
