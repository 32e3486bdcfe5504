using System.Buffers;
using Corfu.Store.Records;
using Corfu.Store.State;

namespace Corfu.Store.Index;

/// <summary>Bytes of a state in a checkpoint: a map of MessagePack from names to parts, in this order. No value is
/// among them.</summary>
internal static class StatePages
{
    private static readonly string[] s_parts =
        ["settings", "revision", "floor", "history", "keys", "leases", "lastLease", "pins"];

    public static void Save(IBufferWriter<byte> buffer, StoreState state)
    {
        var writer = new MessagePackWriter(buffer);
        writer.WriteMapHeader(s_parts.Length);
        writer.Write(s_parts[0]);
        WriteSettings(ref writer, state.Settings);
        writer.Write(s_parts[1]);
        writer.Write(state.Revision);
        writer.Write(s_parts[2]);
        writer.Write(state.Floor);
        writer.Write(s_parts[3]);
        WriteHistory(ref writer, Planted.Is("prune-outside-the-state")
            ? state.History.RemoveRange(0, (int)Math.Clamp(state.Oldest - state.First, 0, state.History.Count))
            : state.History);
        writer.Write(s_parts[4]);
        WriteKeys(ref writer, state.Table);
        writer.Write(s_parts[5]);
        WriteLeases(ref writer, state.Leases);
        writer.Write(s_parts[6]);
        writer.Write(state.LastLease);
        writer.Write(s_parts[7]);
        writer.WriteArrayHeader(state.Pins.Count);
        foreach (var (name, revision) in state.Pins)
        {
            writer.WriteArrayHeader(2);
            writer.WriteText(name);
            writer.Write(revision);
        }

        writer.Flush();
    }

    /// <exception cref="TangoFormatException">The bytes are not what <see cref="Save"/> writes.</exception>
    public static StoreState Load(ReadOnlyMemory<byte> bytes)
    {
        var reader = new MessagePackReader(bytes);
        try
        {
            var state = Load(ref reader);
            TangoFormatters.RequireEnd(ref reader);
            return state;
        }
        catch (Exception e) when (StrictMessagePack.IsDamage(e))
        {
            throw TangoFormatException.Of(e, reader.Consumed);
        }
    }

    private static StoreState Load(ref MessagePackReader reader)
    {
        if (reader.ReadMapCount() != s_parts.Length)
            throw new TangoFormatException("The checkpoint has other parts than this code knows");
        RequirePart(ref reader, 0);
        var settings = ReadSettings(ref reader);
        RequirePart(ref reader, 1);
        var revision = reader.ReadInt64();
        RequirePart(ref reader, 2);
        var floor = reader.ReadInt64();
        RequirePart(ref reader, 3);
        var history = RecordCodec.ReadArray(ref reader, ReadRevision);
        RequirePart(ref reader, 4);
        var rows = RecordCodec.ReadArray(ref reader, ReadRow);
        RequirePart(ref reader, 5);
        var leases = RecordCodec.ReadArray(ref reader, ReadLease);
        RequirePart(ref reader, 6);
        var lastLease = reader.ReadInt64();
        RequirePart(ref reader, 7);
        var pins = RecordCodec.ReadArray(ref reader, ReadPin);
        var keysOf = rows.Where(static row => row.Value.Newest.Lease > 0)
            .ToLookup(static row => row.Value.Newest.Lease, static row => row.Key);
        return new StoreState
        {
            Settings = settings,
            Revision = revision,
            Floor = floor,
            History = [.. history],
            Table = new KeyTable([.. rows.Select(static row => row.Key)], rows.ToImmutableDictionary()),
            Leases = leases.ToImmutableSortedDictionary(
                static lease => lease.Id, lease => lease.Row with { Keys = [.. keysOf[lease.Id]] }),
            LastLease = lastLease,
            Pins = pins.ToImmutableSortedDictionary(
                static pin => pin.Name, static pin => pin.Revision, StringComparer.Ordinal),
            Bytes = rows.Sum(static row =>
                row.Value.Versions.Sum(version => (long)row.Key.Length + version.Place.Length)),
        };
    }

    private static void RequirePart(ref MessagePackReader reader, int part)
    {
        if (reader.ReadText() is var name && name != s_parts[part])
            throw new TangoFormatException($"The checkpoint has '{name}' in place of '{s_parts[part]}'");
    }

    private static void WriteSettings(ref MessagePackWriter writer, StoreSettings? settings)
    {
        if (settings is null)
        {
            writer.WriteNil();
            return;
        }

        writer.WriteArrayHeader(3);
        writer.Write(settings.Span);
        RecordCodec.WriteNumber(ref writer, settings.KeepRevisions);
        RecordCodec.WriteNumber(ref writer, settings.QuotaBytes);
    }

    private static StoreSettings? ReadSettings(ref MessagePackReader reader)
    {
        if (reader.TryReadNil()) return null;
        reader.ReadArrayHeader(3);
        return new StoreSettings(
            reader.ReadInt64(), RecordCodec.ReadNumber(ref reader), RecordCodec.ReadNumber(ref reader));
    }

    private static void WriteHistory(ref MessagePackWriter writer, ImmutableList<RevisionRow> history)
    {
        writer.WriteArrayHeader(history.Count);
        foreach (var row in history)
        {
            writer.WriteArrayHeader(3);
            writer.Write(row.Position);
            writer.Write(row.Record);
            writer.WriteArrayHeader(row.Keys.Length);
            foreach (var key in row.Keys) writer.Write(key.Bytes);
        }
    }

    private static RevisionRow ReadRevision(ref MessagePackReader reader)
    {
        reader.ReadArrayHeader(3);
        return new RevisionRow(
            reader.ReadInt64(), reader.ReadInt32(), RecordCodec.ReadArray(ref reader, RecordCodec.ReadKey));
    }

    private static void WriteKeys(ref MessagePackWriter writer, KeyTable table)
    {
        writer.WriteArrayHeader(table.Keys.Count);
        foreach (var key in table.Keys)
        {
            var row = table.Rows[key];
            writer.WriteArrayHeader(2);
            writer.Write(key.Bytes);
            writer.WriteArrayHeader(row.Older.Count + 1);
            foreach (var version in row.Versions) WriteVersion(ref writer, version);
        }
    }

    private static KeyValuePair<StoreKey, KeyRow> ReadRow(ref MessagePackReader reader)
    {
        reader.ReadArrayHeader(2);
        var key = RecordCodec.ReadKey(ref reader);
        var versions = RecordCodec.ReadArray(ref reader, ReadVersion);
        if (versions.IsEmpty) throw new TangoFormatException($"The key '{key}' has no version");
        return new KeyValuePair<StoreKey, KeyRow>(key, new KeyRow(versions[^1], [.. versions[..^1]]));
    }

    private static void WriteVersion(ref MessagePackWriter writer, StoreVersion version)
    {
        if (version.IsDeleted)
        {
            writer.Write(version.Revision);
            return;
        }

        writer.WriteArrayHeader(5);
        writer.Write(version.Revision);
        writer.Write(version.Created);
        writer.Write(version.Version);
        writer.Write(version.Lease);
        RecordCodec.WritePlace(ref writer, version.Place);
    }

    private static StoreVersion ReadVersion(ref MessagePackReader reader)
    {
        if (reader.NextMessagePackType == MessagePackType.Integer) return StoreVersion.Deleted(reader.ReadInt64());
        reader.ReadArrayHeader(5);
        return new StoreVersion(
            reader.ReadInt64(), reader.ReadInt64(), reader.ReadInt64(), reader.ReadInt64(),
            RecordCodec.ReadPlace(ref reader));
    }

    // The keys of a lease follow from their newest versions.
    private static void WriteLeases(ref MessagePackWriter writer, ImmutableSortedDictionary<long, LeaseRow> leases)
    {
        writer.WriteArrayHeader(leases.Count);
        foreach (var (id, lease) in leases)
        {
            writer.WriteArrayHeader(4);
            writer.Write(id);
            writer.Write(lease.Version);
            writer.Write(lease.Milliseconds);
            writer.Write(lease.RenewedAt);
        }
    }

    private static (long Id, LeaseRow Row) ReadLease(ref MessagePackReader reader)
    {
        reader.ReadArrayHeader(4);
        return (reader.ReadInt64(), new LeaseRow(
            reader.ReadInt64(), reader.ReadInt64(), reader.ReadInt64(), []));
    }

    private static (string Name, long Revision) ReadPin(ref MessagePackReader reader)
    {
        reader.ReadArrayHeader(2);
        var name = reader.ReadText() ?? throw new TangoFormatException("A pin has a name");
        return (name, reader.ReadInt64());
    }
}
