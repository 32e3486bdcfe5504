using System.Buffers;

namespace Tango.ZooKeeper;

/// <summary>
/// A root as a checkpoint: one map of its fields. Lists of access control stand once; nodes have indexes of them. What
/// follows from the nodes is not stored: children, ephemeral nodes of sessions, reapable nodes.
/// </summary>
internal static class TreeState
{
    private const int NodeFields = 12;
    private const int FrontEndFields = 5;

    public static void Save(IBufferWriter<byte> output, TreeRoot root)
    {
        var writer = new MessagePackWriter(output);
        // A service of one partition has the form of the first level.
        var hasMounts = root.MountCount > 0;
        writer.WriteMapHeader(hasMounts ? 10 : 9);
        // First: a later level may have another form of the rest.
        writer.Write("level");
        writer.Write(root.Level);
        writer.Write("seed");
        writer.Write(root.Parts.Seed);
        writer.Write("settings");
        root.Settings.Write(ref writer);
        writer.Write("zxid");
        writer.Write(root.LastZxid);
        if (hasMounts)
        {
            writer.Write("mounts");
            root.Parts.Mounts.Write(ref writer);
        }

        writer.Write("frontEnds");
        Write(ref writer, [.. root.AllFrontEnds]);
        writer.Write("sessions");
        Write(ref writer, [.. root.AllSessions()]);
        writer.Write("quotas");
        SaveQuotas(ref writer, root);
        var acls = IndexAcls(root);
        writer.Write("acls");
        writer.WriteArrayHeader(acls.Count);
        foreach (var acl in acls.OrderBy(static pair => pair.Value)) writer.WriteAcl(acl.Key.Entries);
        writer.Write("nodes");
        SaveNodes(ref writer, root, acls);
        writer.Flush();
    }

    /// <exception cref="TangoFormatException">The bytes are not what <see cref="Save"/> writes.</exception>
    public static TreeRoot Load(ReadOnlyMemory<byte> state)
    {
        var reader = new MessagePackReader(state);
        var loading = new LoadingTree();
        try
        {
            for (var left = reader.ReadMapCount(); left > 0; left--) LoadField(ref reader, loading);
            TangoFormatters.RequireEnd(ref reader);
            return loading.ToRoot();
        }
        catch (Exception e) when (StrictMessagePack.IsDamage(e))
        {
            throw TangoFormatException.Of(e, reader.Consumed);
        }
    }

    private static void LoadField(ref MessagePackReader reader, LoadingTree loading)
    {
        switch (reader.RequireText())
        {
            case "level":
                loading.Level = TreeLevel.Require(reader.ReadInt32());
                break;
            case "seed":
                loading.Seed = reader.ReadUInt64();
                break;
            case "settings":
                loading.Settings = TreeSettings.Read(ref reader);
                break;
            case "zxid":
                loading.LastZxid = reader.ReadInt64();
                break;
            case "mounts":
                loading.Mounts = MountTable.Read(ref reader);
                break;
            case "frontEnds":
                for (var left = reader.ReadCount(); left > 0; left--) loading.Add(ReadFrontEnd(ref reader));
                break;
            case "sessions":
                for (var left = reader.ReadCount(); left > 0; left--) loading.Add(ReadSession(ref reader));
                break;
            case "quotas":
                for (var left = reader.ReadMapCount(); left > 0; left--)
                    loading.AddQuota(reader.RequireText(), ReadUsage(ref reader));
                break;
            case "acls":
                for (var left = reader.ReadCount(); left > 0; left--) loading.Add(ReadAcl(ref reader));
                break;
            case "nodes":
                for (var left = reader.ReadCount(); left > 0; left--) LoadNode(ref reader, loading);
                break;
            case var other:
                throw new TangoFormatException($"A tree's state with a field '{other}' is not known here");
        }
    }

    public static void Write(ref MessagePackWriter writer, ImmutableArray<FrontEnd> rows)
    {
        writer.WriteArrayHeader(rows.Length);
        foreach (var row in rows)
        {
            writer.WriteArrayHeader(FrontEndFields);
            writer.Write(row.Id);
            writer.Write(row.CodeLevel);
            writer.WriteText(row.Address);
            writer.Write(row.Beat);
            writer.Write(row.IsDown);
        }
    }

    public static FrontEnd ReadFrontEnd(ref MessagePackReader reader)
    {
        reader.ReadArrayHeader(FrontEndFields);
        return new FrontEnd(reader.ReadInt64(), reader.ReadInt32(), reader.RequireText(), reader.ReadInt64(),
            reader.ReadBoolean());
    }

    public static void Write(ref MessagePackWriter writer, ImmutableArray<ZooKeeperSession> sessions)
    {
        writer.WriteArrayHeader(sessions.Length);
        foreach (var session in sessions)
        {
            writer.WriteArrayHeader(2);
            SessionFields.Write(ref writer, session.Id, session.Hash, session.Timeout, session.FrontEnd);
            writer.Write(session.Attachment);
        }
    }

    public static ZooKeeperSession ReadSession(ref MessagePackReader reader)
    {
        reader.ReadArrayHeader(2);
        var (id, hash, timeout, frontEnd) = SessionFields.Read(ref reader);
        return new ZooKeeperSession(id, hash, timeout, reader.ReadInt32(), frontEnd, ZooKeeperSession.NoEphemerals);
    }

    private static void SaveQuotas(ref MessagePackWriter writer, TreeRoot root)
    {
        writer.WriteMapHeader(root.Parts.Quotas.Count);
        foreach (var (path, quota) in root.Parts.Quotas.Quotas)
        {
            writer.WriteText(path);
            writer.WriteArrayHeader(2);
            writer.Write(quota.Usage.Count);
            writer.Write(quota.Usage.Bytes);
        }
    }

    private static QuotaUsage ReadUsage(ref MessagePackReader reader)
    {
        reader.ReadArrayHeader(2);
        return new QuotaUsage(reader.ReadInt64(), reader.ReadInt64());
    }

    // Numbered in the order of the nodes, so that equal roots have equal bytes.
    private static Dictionary<AclList, int> IndexAcls(TreeRoot root)
    {
        var indexes = new Dictionary<AclList, int>();
        foreach (var node in root.Parts.Nodes.Items()) indexes.TryAdd(node.Acl, indexes.Count);
        return indexes;
    }

    private static AclList ReadAcl(ref MessagePackReader reader)
    {
        var entries = reader.ReadAcl();
        if (entries.IsDefaultOrEmpty || entries.Any(static entry => entry.Scheme is null || entry.Id is null))
            throw new TangoFormatException(FormatError.Invalid, "No node may have this list", reader.Consumed);
        return new AclList(entries);
    }

    private static void SaveNodes(ref MessagePackWriter writer, TreeRoot root, Dictionary<AclList, int> acls)
    {
        writer.WriteArrayHeader(root.NodeCount);
        foreach (var node in root.Parts.Nodes.Items())
        {
            writer.WriteArrayHeader(NodeFields);
            writer.WriteText(node.Path);
            writer.WriteData(node.RawData);
            writer.Write(acls[node.Acl]);
            writer.Write(node.Owner);
            writer.Write(node.Czxid);
            writer.Write(node.Mzxid);
            writer.Write(node.Pzxid);
            writer.Write(node.Ctime);
            writer.Write(node.Mtime);
            writer.Write(node.Version);
            writer.Write(node.Creates);
            writer.Write(node.Aversion);
        }
    }

    private static void LoadNode(ref MessagePackReader reader, LoadingTree loading)
    {
        reader.ReadArrayHeader(NodeFields);
        var (path, data, acl) = (reader.RequireText(), reader.ReadData(), reader.ReadInt32());
        var owner = reader.ReadInt64();
        loading.Add(path, data, acl, owner, new NodeCounters(
            reader.ReadInt64(), reader.ReadInt64(), reader.ReadInt64(), reader.ReadInt64(), reader.ReadInt64(),
            reader.ReadInt32(), reader.ReadInt32(), reader.ReadInt32()));
    }
}
