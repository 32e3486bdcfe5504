using System.Collections.Immutable;
using Corfu;
using Tango.Formatting;
using Tango.Model;
using Tango.Records;

namespace Tango.Checkpoints;

/// <summary>
/// Content of a checkpoint's chunks, one part behind the other. The first part is the head:
/// <c>[1, end, [[object, type name, version capacity, versions, state], ...], [awaited, ...]]</c>; the others are
/// the members' states, as their code wrote them.
/// </summary>
internal static class CheckpointContent
{
    private const int Format = 1;
    private const int HeadLength = 4;
    private const int MemberLength = 5;
    private const int VersionsLength = 4;
    private const int KeyLength = 3;
    private const int VersionLength = 2;
    private const int AwaitedLength = 5;

    // The member's state: that with which its type begins, or a part of the content, or none any more.
    private const int Initial = 0;
    private const int Written = 1;
    private const int Removed = 2;

    /// <returns>The lengths of the parts.</returns>
    public static ImmutableArray<long> Write(ChunkedBuffer output, CohortSnapshot snapshot)
    {
        var parts = ImmutableArray.CreateBuilder<long>(1 + snapshot.Members.Length);
        WriteHead(output, snapshot);
        parts.Add(output.Length);
        foreach (var member in snapshot.Members)
        {
            var before = output.Length;
            ((ITangoView?)member.View)?.SaveState(output);
            parts.Add(output.Length - before);
        }

        return parts.MoveToImmutable();
    }

    /// <exception cref="TangoException">The content is no checkpoint of these members, or this code cannot read
    /// it.</exception>
    public static CohortSnapshot Read(ImmutableArray<ReadOnlyMemory<byte>> parts, IReadOnlyList<CohortMember> members)
    {
        var reader = new MessagePackReader(parts[0]);
        reader.ReadArrayHeader(HeadLength);
        var format = reader.ReadInt32();
        if (format != Format) throw new TangoFormatException($"Checkpoint format {format} is not known here");
        var end = RecordFormat.ReadPosition(ref reader);
        reader.ReadArrayHeader(members.Count);
        if (parts.Length != members.Count + 1)
            throw new TangoFormatException($"{parts.Length} parts for {members.Count} members");
        var loaded = ImmutableArray.CreateBuilder<MemberSnapshot>(members.Count);
        for (var i = 0; i < members.Count; i++) loaded.Add(ReadMember(ref reader, members, loaded, parts[i + 1]));
        var awaited = ReadAwaited(ref reader);
        // Spills need no place here: their commit record names them (R19).
        return new CohortSnapshot(end, loaded.MoveToImmutable(), awaited);
    }

    private static void WriteHead(ChunkedBuffer output, CohortSnapshot snapshot)
    {
        var writer = new MessagePackWriter(output);
        writer.WriteArrayHeader(HeadLength);
        writer.Write(Format);
        writer.Write(snapshot.End.Offset);
        writer.WriteArrayHeader(snapshot.Members.Length);
        foreach (var member in snapshot.Members)
        {
            writer.WriteArrayHeader(MemberLength);
            writer.Write(member.Entry.Id.Value);
            writer.WriteText(member.Entry.TypeName);
            writer.Write(member.Entry.VersionCapacity);
            WriteVersions(ref writer, member.Versions);
            writer.Write(member.IsRemoved ? Removed : member.View is null ? Initial : Written);
        }

        var waitsFor = snapshot.Awaited;
        if (Planted.Is("checkpoint-without-pending-decisions")) waitsFor = [];
        writer.WriteArrayHeader(waitsFor.Length);
        foreach (var awaited in waitsFor) WriteAwaited(ref writer, awaited);
        writer.Flush();
    }

    private static MemberSnapshot ReadMember(
        ref MessagePackReader reader, IReadOnlyList<CohortMember> members,
        ImmutableArray<MemberSnapshot>.Builder loaded,
        ReadOnlyMemory<byte> state)
    {
        reader.ReadArrayHeader(MemberLength);
        var id = new ObjectId(reader.ReadUInt64());
        var typeName = reader.ReadText();
        var capacity = reader.ReadInt32();
        // Hosts of a cohort have its members in the order in which they met them: a directory that was loaded names
        // them by their ids.
        var member = loaded.Count == 0 ? members[0] : members.FirstOrDefault(one => one.Entry.Id == id);
        if (member is not { Entry: { } entry } || id != entry.Id || loaded.Any(one => one.Entry.Id == id)
            || typeName != entry.TypeName || capacity != entry.VersionCapacity)
            throw new TangoFormatException(
                $"The checkpoint has {id} of type {typeName} with capacity {capacity}, not {member?.Entry}");
        var versions = ReadVersions(ref reader);
        var kind = reader.ReadInt32();
        if (kind is not (Initial or Written or Removed) || (kind == Removed && versions.LastAny is null))
            throw new TangoFormatException($"The checkpoint says {kind} of the state of {id}");
        if (kind != Written && !state.IsEmpty)
            throw new TangoFormatException(
                $"The checkpoint has a state of {id}, which was never written, or was deleted");
        if (kind == Removed) return new MemberSnapshot(entry, null, versions) { IsRemoved = true };
        var view = member.Type?.Create();
        if (kind == Written) ((ITangoView?)view)?.LoadState(state);
        return new MemberSnapshot(entry, view, versions);
    }

    // [[[key, position, index], ...], last keyless | nil, last of any kind | nil, low-water mark | nil]
    private static void WriteVersions(ref MessagePackWriter writer, VersionTableState versions)
    {
        writer.WriteArrayHeader(VersionsLength);
        writer.WriteArrayHeader(versions.Keys.Length);
        foreach (var known in versions.Keys)
        {
            writer.WriteArrayHeader(KeyLength);
            writer.Write(known.Key);
            RecordFormat.WriteVersion(ref writer, known.Version);
        }

        WriteVersion(ref writer, versions.LastKeyless);
        WriteVersion(ref writer, versions.LastAny);
        WriteVersion(ref writer, versions.LowWaterMark);
    }

    private static VersionTableState ReadVersions(ref MessagePackReader reader)
    {
        reader.ReadArrayHeader(VersionsLength);
        var keys = ImmutableArray.CreateBuilder<KeyVersion>();
        for (var left = reader.ReadCount(); left > 0; left--)
        {
            reader.ReadArrayHeader(KeyLength);
            keys.Add(new KeyVersion(reader.ReadBinary().ToArray(), RecordFormat.ReadVersion(ref reader)));
        }

        return new VersionTableState(
            keys.DrainToImmutable(), ReadVersion(ref reader), ReadVersion(ref reader), ReadVersion(ref reader));
    }

    private static void WriteVersion(ref MessagePackWriter writer, RecordVersion? version)
    {
        if (version is not { } known)
        {
            writer.WriteNil();
            return;
        }

        writer.WriteArrayHeader(VersionLength);
        RecordFormat.WriteVersion(ref writer, known);
    }

    private static RecordVersion? ReadVersion(ref MessagePackReader reader)
    {
        if (reader.TryReadNil()) return null;
        reader.ReadArrayHeader(VersionLength);
        return RecordFormat.ReadVersion(ref reader);
    }

    // [position, index, [stream, ...], 1 if decided else 0, aborted as in a decision record | nil]
    private static void WriteAwaited(ref MessagePackWriter writer, AwaitedDecision awaited)
    {
        writer.WriteArrayHeader(AwaitedLength);
        RecordFormat.WriteVersion(ref writer, awaited.Commit);
        writer.WriteArrayHeader(awaited.Streams.Length);
        foreach (var stream in awaited.Streams) writer.Write(stream.Value);
        writer.Write(awaited.IsDecided ? 1 : 0);
        DecisionFormat.WriteAborted(ref writer, awaited.Aborted);
    }

    private static ImmutableArray<AwaitedDecision> ReadAwaited(ref MessagePackReader reader)
    {
        var awaited = ImmutableArray.CreateBuilder<AwaitedDecision>();
        for (var left = reader.ReadCount(); left > 0; left--)
        {
            reader.ReadArrayHeader(AwaitedLength);
            var commit = RecordFormat.ReadVersion(ref reader);
            var streams = ImmutableArray.CreateBuilder<StreamId>();
            for (var count = reader.ReadCount(); count > 0; count--)
                streams.Add(new StreamId(reader.ReadUInt64()));
            var isDecided = reader.ReadInt32() != 0;
            awaited.Add(new AwaitedDecision(
                commit, streams.DrainToImmutable(), isDecided, DecisionFormat.ReadAborted(ref reader)));
        }

        return awaited.DrainToImmutable();
    }
}
