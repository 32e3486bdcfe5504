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
        RecordFormat.WriteVersion(ref writer, commit);
        WriteAborted(ref writer, aborted);
        writer.Flush();
        return buffer.WrittenMemory;
    }

    /// <summary>Reads what follows the kind.</summary>
    public static Decision Read(ref MessagePackReader reader) =>
        new(RecordFormat.ReadVersion(ref reader), ReadAborted(ref reader));

    public static void WriteAborted(ref MessagePackWriter writer, TxOutcome.Aborted? aborted)
    {
        if (aborted is null)
        {
            writer.WriteNil();
            return;
        }

        writer.WriteArrayHeader(AbortLength);
        writer.Write((int)aborted.Reason);
        writer.Write(aborted.ObjectId.Value);
        RecordFormat.WriteKey(ref writer, aborted.Key);
        RecordFormat.WriteVersion(ref writer, aborted.ConflictingWrite);
    }

    public static TxOutcome.Aborted? ReadAborted(ref MessagePackReader reader)
    {
        if (reader.TryReadNil()) return null;
        reader.ReadArrayHeader(AbortLength);
        var reason = (AbortReason)reader.ReadInt32();
        var id = new ObjectId(reader.ReadUInt64());
        var key = reader.TryReadNil() ? ObjectKey.None : new ObjectKey(reader.ReadBinary().Span);
        return new TxOutcome.Aborted(reason, id, id.ToString(), key, RecordFormat.ReadVersion(ref reader));
    }
}
