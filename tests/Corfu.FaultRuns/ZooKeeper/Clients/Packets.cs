using System.Text;

namespace Corfu.FaultRuns.ZooKeeper.Clients;

/// <summary>Requests and replies as bytes.</summary>
internal static class Packets
{
    public const int EventXid = -1;
    public const int PingXid = -2;
    public const int SetWatchesXid = -8;

    private const int CreateType = 15;
    private const int DeleteType = 2;
    private const int ExistsType = 3;
    private const int GetDataType = 4;
    private const int SetType = 5;
    private const int SyncType = 9;
    private const int PingType = 11;
    private const int ChildrenType = 12;
    private const int CheckType = 13;
    private const int MultiType = 14;
    private const int CloseType = -11;
    private const int SetWatchesType = 101;

    private const int Failed = -1;

    public static byte[] Connect(long lastZxid, int timeout, long session, byte[] password) =>
        new WireWriter().Int(0).Long(lastZxid).Int(timeout).Long(session).Bytes(password).Flag(false).Frame();

    public static byte[] Ping() => new WireWriter().Int(PingXid).Int(PingType).Frame();

    public static byte[] SetWatches(long zxid, WatchBook watches) => new WireWriter()
        .Int(SetWatchesXid).Int(SetWatchesType).Long(zxid)
        .Texts([.. watches.Data.Where(one => one.Value != WatchBook.Absent).Select(one => one.Key)])
        .Texts([.. watches.Data.Where(one => one.Value == WatchBook.Absent).Select(one => one.Key)])
        .Texts(watches.Children.Keys).Frame();

    public static byte[] Request(int xid, ZooCall call)
    {
        var writer = new WireWriter().Int(xid);
        return (call.Act switch
        {
            ZooAct.Create => writer.Int(CreateType).Text(call.Path).Text(call.Data).OpenAcl()
                .Int((call.IsEphemeral ? 1 : 0) + (call.IsSequential ? 2 : 0)),
            ZooAct.Delete => writer.Int(DeleteType).Text(call.Path).Int(call.Version),
            ZooAct.Set => Set(writer.Int(SetType), call),
            ZooAct.Get => writer.Int(GetDataType).Text(call.Path).Flag(call.Watch),
            ZooAct.Exists => writer.Int(ExistsType).Text(call.Path).Flag(call.Watch),
            ZooAct.Children => writer.Int(ChildrenType).Text(call.Path).Flag(call.Watch),
            ZooAct.Sync => writer.Int(SyncType).Text(call.Path),
            ZooAct.GuardedSet => Set(
                writer.Int(MultiType).Int(CheckType).Flag(false).Int(-1).Text(call.Guard).Int(-1)
                    .Int(SetType).Flag(false).Int(-1), call).Int(-1).Flag(true).Int(-1),
            _ => writer.Int(CloseType),
        }).Frame();
    }

    /// <summary>Reads what stands behind the head of a reply.</summary>
    public static ZooEntry Read(ZooEntry entry, ref WireReader reader)
    {
        if (!entry.IsOk) return entry;
        switch (entry.Act)
        {
            case ZooAct.Create:
                return entry with { Text = reader.Text(), Stat = reader.Stat() };
            case ZooAct.Set or ZooAct.Exists:
                return entry with { Stat = reader.Stat() };
            case ZooAct.Get:
                return entry with { Text = Encoding.UTF8.GetString(reader.Bytes()), Stat = reader.Stat() };
            case ZooAct.Children:
                return entry with { Names = reader.Texts(), Stat = reader.Stat() };
            case ZooAct.GuardedSet:
                return ReadMulti(entry, ref reader);
            default:
                return entry;
        }
    }

    private static WireWriter Set(WireWriter writer, ZooCall call) =>
        writer.Text(call.Path).Text(call.Data).Int(call.Version);

    // A check, then a set.
    private static ZooEntry ReadMulti(ZooEntry entry, ref WireReader reader)
    {
        for (var part = 0; part < 2; part++)
        {
            var type = reader.Int();
            reader.Flag();
            reader.Int();
            if (type == Failed)
            {
                if (reader.Int() is not 0 and var error) return entry with { Error = error };
            }
            else if (type == SetType)
            {
                entry = entry with { Stat = reader.Stat() };
            }
        }

        return entry.Stat is null ? throw new InvalidDataException("a multi without a result") : entry;
    }
}
