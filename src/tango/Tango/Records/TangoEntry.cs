using Tango.Formatting;
using Tango.Records;

namespace Tango;

/// <summary>Payloads of entries as Tango writes them.</summary>
public static class TangoEntry
{
    /// <summary>Whether every record of the payload can be decoded: nothing else may stand in an object's stream, where
    /// it would stop the object. What a call's arguments mean only the object's type knows.</summary>
    // A record that cannot be read stops all objects of its entry's streams (R23).
    public static bool IsWellFormed(ReadOnlyMemory<byte> payload)
    {
        var reader = new MessagePackReader(payload);
        try
        {
            var records = EntryFormat.ReadHeader(ref reader).Records;
            for (var left = records; left > 0; left--)
            {
                if (!TryPass(ref reader)) return false;
            }

            return records > 0 && reader.End;
        }
        catch (Exception e) when (e is TangoLevelException || StrictMessagePack.IsDamage(e))
        {
            return false;
        }
    }

    private static bool TryPass(ref MessagePackReader reader)
    {
        var elements = reader.ReadCount();
        var kind = elements > 0 ? (RecordKind)reader.ReadInt32() : 0;
        switch (kind)
        {
            case RecordKind.Update when elements == RecordFormat.UpdateLength:
                CallRecord.Read(ref reader);
                return true;
            case RecordKind.Decision when elements == RecordFormat.DecisionLength:
                DecisionFormat.Read(ref reader);
                return true;
            case RecordKind.Commit when elements == RecordFormat.CommitLength:
                // Flags and the end of the snapshot; then what was read, what is written, and spills.
                reader.ReadInt32();
                RecordFormat.ReadPosition(ref reader);
                CommitFormat.ReadParticipants(reader);
                for (var left = elements - 3; left > 0; left--) reader.SkipValue();
                return true;
            case RecordKind.Checkpoint or RecordKind.Chunk or >= RecordFormat.FirstWithoutEffect:
                for (var left = elements - 1; left > 0; left--) reader.SkipValue();
                return true;
            default:
                return false;
        }
    }
}
