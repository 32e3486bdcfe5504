using Corfu.Protocol;
using Tango.Formatting;

namespace Tango.Records;

/// <summary>A decision record: <c>[3, position, index, nil | [reason, object, key | nil, position, index]]</c>, the
/// version being the commit record's.</summary>
internal static class DecisionFormat
{
    private const int AbortLength = 5;

    public static ReadOnlyMemory<byte> Encode(RecordVersion commit, TxOutcome.Aborted? aborted)
    {
        var buffer = new ArgumentBuffer();
        var writer = new MessagePackWriter(buffer);
        writer.WriteArrayHeader(RecordFormat.DecisionLength);
        writer.Write((int)RecordKind.Decision);
        WriteVersion(ref writer, commit);
        if (aborted is null)
        {
            writer.WriteNil();
        }
        else
        {
            writer.WriteArrayHeader(AbortLength);
            writer.Write((int)aborted.Reason);
            writer.Write(aborted.ObjectId.Value);
            RecordFormat.WriteKey(ref writer, aborted.Key);
            WriteVersion(ref writer, aborted.ConflictingWrite);
        }

        writer.Flush();
        return buffer.WrittenMemory;
    }

    /// <summary>Reads what follows the kind.</summary>
    public static Decision Read(ref MessagePackReader reader)
    {
        var commit = ReadVersion(ref reader);
        if (reader.TryReadNil()) return new Decision(commit, null);
        reader.ReadArrayHeader(AbortLength);
        var reason = (AbortReason)reader.ReadInt32();
        var id = new ObjectId(reader.ReadUInt64());
        var key = reader.TryReadNil() ? ObjectKey.None : new ObjectKey(reader.ReadBinary().Span);
        return new Decision(commit, new TxOutcome.Aborted(reason, id, id.ToString(), key, ReadVersion(ref reader)));
    }

    private static void WriteVersion(ref MessagePackWriter writer, RecordVersion version)
    {
        writer.Write(version.Position.Offset);
        writer.Write(version.Index);
    }

    private static RecordVersion ReadVersion(ref MessagePackReader reader) =>
        new(RecordFormat.ReadPosition(ref reader), reader.ReadInt32());
}
